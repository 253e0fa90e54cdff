import re
from importlib.resources import files
from string import Formatter

import pytest

from judge.messages import LANGS, Messages

ROOMS = sorted(
    each.name.removesuffix(".toml")
    for each in files("judge").joinpath("data", "messages").iterdir()
    if each.name.endswith(".toml")
)
HAN = re.compile(r"[\u4e00-\u9fff]")
FIGURE = re.compile(r"\{[^{}]*\}|\[[^\]]*\]")


def figures(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("room", ROOMS)
def test_every_text_is_there_in_both_languages_with_the_same_figures(room: str) -> None:
    texts = Messages.of(room)
    for key in texts:
        en, zh = (texts.template(key, lang) for lang in LANGS)
        assert en, key
        assert figures(en) == figures(zh), key
        # Each names the other language, to change to it; Brier is a name.
        plain = re.search("[a-z]{4}", FIGURE.sub("", zh)) and not HAN.search(zh)
        assert not (HAN.search(en) or plain) or key.endswith(("language", "brier")), key


def test_a_text_is_filled_in_and_a_missing_figure_is_no_text() -> None:
    texts = Messages({"at": {"en": "{n} {n:line|lines} of {m}", "zh": "{m} 之 {n}"}})
    assert [texts("at", "en", n=n, m=2) for n in (1, 2)] == ["1 line of 2", "2 lines of 2"]
    assert texts("at", "zh", n=1, m=2) == "2 之 1"
    for key in ("at", "other"):
        with pytest.raises(KeyError):
            texts(key, "en", n=1)
