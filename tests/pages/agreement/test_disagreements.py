import re

from judge.pages.agreement.disagreements import disagreements
from judge.pages.agreement.words import Words
from tests.pages.agreement.findings import BARE, DATE, HOSTILE, RICH

ENGLISH = Words("en")


def told(markup: str) -> dict[str, str]:
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", markup)
    return {name: re.sub("<.*?>", "", value) for name, value in pairs}


def test_a_disagreement_is_told_whole() -> None:
    made = disagreements(RICH.model_copy(update={"disagreements": (DATE,)}), ENGLISH)
    assert "Staff may carry over ten days." in made
    assert told(made) == {
        "Judge": "full support",
        "People": "contradicted (ann), not supported (unnamed reviewer)",
        "Note": "The handbook says five.",
        "Judge&#x27;s quote": "may carry over days",
        "Answer": "leave-3",
        "Row": "spring-017",
    }
    assert "Worst first." in made


def test_thirty_are_shown_and_the_rest_counted() -> None:
    made = disagreements(RICH, ENGLISH)
    assert made.count("<article>") == 30
    assert "5 more stand in agreement.json" in made
    assert made.index("leave-3") < made.index("q100<") < made.index("q128<")
    assert "q129<" not in made


def test_agreeing_is_not_the_same_as_not_comparing() -> None:
    agreed = RICH.model_copy(update={"disagreements": ()})
    assert "people say what the judge says" in disagreements(agreed, ENGLISH)
    assert "not measured" in disagreements(BARE, ENGLISH)


def test_texts_that_want_to_be_markup_stay_texts() -> None:
    made = disagreements(HOSTILE, Words("zh"))
    assert "<script" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 员工每年可休假十天。" in made
    assert '"onmouseover' not in made
    assert "&amp;lt;not markup&amp;gt;" in made
    assert "{raw} {0} %s" in made
    assert not set(made) & set("\u202e\u2066\x00\x1b\ud800")
    assert made.count("长") < 700
