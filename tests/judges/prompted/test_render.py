import re
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.checks.quotes import find_quote
from judge.judges.prompted import render
from judge.prompt import load_prompt
from judge.records import JudgeRequest
from tests.requests import request

PROMPT = load_prompt("faithfulness", "v1")


def asked(
    sentences: Sequence[str],
    chunks: Sequence[str] = ("The fee is ten euros.",),
    ask: Sequence[int] | None = None,
    cites: Mapping[int, tuple[int, ...]] | None = None,
    query: str = "What is the fee?",
) -> JudgeRequest:
    ids = [f"secret#{position}" for position in range(len(chunks))]
    return request(sentences, chunks, cites, ask, ids=ids, query=query, answer=" ".join(sentences))


def code_of(user: str) -> str:
    match = re.match(r"Code: ([0-9a-f]{12})\n", user)
    assert match
    return match[1]


def plain(user: str) -> str:
    """With CODE for the code."""
    return user.replace(code_of(user), "CODE")


READS_LIKE_THIS = """\
Code: CODE
<question CODE>
What is the fee?
</question CODE>
<evidence CODE>
<chunk 1 CODE>
The fee is ten euros.
<chunk 2 CODE>
费用为十元。
另计税。
<chunk 3 CODE>
Closed on $code Fridays.
</evidence CODE>
<answer CODE>
<s1 cites 1 CODE>
It is ten euros [1].
<context CODE>
Hello!
<s3 cites 1, 3 CODE>
费用为十元。
</answer CODE>
Judge these sentences: s1, s3"""


def test_the_text_of_a_request() -> None:
    mixed = asked(
        ["It is ten euros [1].", "Hello!", "费用为十元。"],
        ["The fee is ten euros.", "费用为十元。\n另计税。", "Closed on $code Fridays."],
        ask=[0, 2],
        cites={0: (0,), 1: (2,), 2: (0, 2)},
    )
    chat = render(mixed, PROMPT)
    assert plain(chat.user) == READS_LIKE_THIS
    assert chat.system == PROMPT.system
    assert chat.max_tokens == 512 + 2 * 200
    assert chat.deadline is None
    assert "secret" not in chat.user


def test_faults_are_named_after_the_last_line() -> None:
    plainly = asked(["It is ten."])
    first = render(plainly, PROMPT).user
    again = render(plainly, PROMPT, faults="s1: support is '</answer>'").user
    assert again.startswith(f"{first}\n")
    assert "s1: support is '＜/answer>'" in again.removeprefix(first)
    again = render(plainly, PROMPT, faults="s1: support is '[/INST]'").user
    assert "[/INST]" not in again


def test_the_code_depends_on_the_material_only() -> None:
    codes = [
        code_of(render(each, PROMPT).user)
        for each in (
            asked(["One.", "Two."], ["ab", "c"]),
            asked(["One.", "Two."], ["ab", "c"], ask=[1], cites={1: (0,)}),
            asked(["One.", "Two."], ["a", "bc"]),
            asked(["One.", "Two."], ["ab", "c"], query="Else?"),
            asked(["One.", "Two!"], ["ab", "c"]),
            asked(["Two."], ["ab", "c", "One."]),
        )
    ]
    # Every call about one answer begins alike, so that a server can keep what it has read.
    assert codes[0] == codes[1]
    assert len(set(codes)) == 5


def test_a_long_answer_is_shown_around_the_asked_sentences() -> None:
    # 100 sentences of 50 tokens: 5 000.
    texts = [f"Sentence {i:03d} {'说' * 47}" for i in range(100)]
    user = plain(render(asked(texts, ask=[5, 40, 45]), PROMPT).user)
    shown = [int(number) for number in re.findall(r"^Sentence (\d+)", user, re.MULTILINE)]
    assert shown == [*range(16), *range(30, 56)]
    lines = user.splitlines()
    gaps = [i for i, line in enumerate(lines) if line == "…"]
    assert [lines[i - 1] for i in gaps] == ["<context CODE>"] * 2
    assert lines[gaps[0] - 2].startswith("Sentence 015")
    assert lines[gaps[0] + 2].startswith("Sentence 030")
    assert lines[gaps[1] + 1] == "</answer CODE>"
    asked_for = [line for line in lines if line.startswith("<s")]
    assert asked_for == ["<s6 CODE>", "<s41 CODE>", "<s46 CODE>"]


TAGS = [
    ("</answer>", "＜/answer>"),
    ("< / Answer >", "＜ / Answer >"),
    ("<CHUNK 2 0123456789ab>", "＜CHUNK 2 0123456789ab>"),
    ("<\u200bevidence x>", "＜\u200bevidence x>"),
    ("<s12>", "＜s12>"),
    ("<\ncontext>", "＜\ncontext>"),
    ("<|im_end|>", "＜|im_end|\u2060>"),
    ("<|im_end", "＜|im_end"),
    ("<end_of_turn>", "＜end_of_turn\u2060>"),
    ("]~b]ai", "］~b\u2060]ai"),
    ("a [/INST] b[1]", "a ［/INST\u2060] b[1]"),
    ("＜｜User｜>", "＜｜User｜\u2060>"),
    ("<<question>", "<＜question>"),
    ("＜question＞", "＜question＞"),
    ("</answer0123456789ab>", "＜/answer0123456789ab>"),
    ("a<b, <span>, <summary>, <question", "a<b, <span>, <summary>, ＜question"),
    ("a<b, <span>, <sum>, 3 < 4 < 说", "a<b, <span>, <sum>, 3 < 4 < 说"),
    ("half \ud800", "half ?"),
]


def test_only_texts_that_look_like_tags_are_changed() -> None:
    for text, sent in TAGS:
        chat = render(asked([text], [text], query=text), PROMPT)
        assert chat.user.count(sent) >= 3, text
        if sent != text:
            assert text not in chat.user
            if "\ud800" not in text:
                # A quote of what was shown still stands in the chunk as it was given.
                assert find_quote(f"the mark {sent} ends it", f"the mark {text} ends it here")


def tags(user: str) -> list[str]:
    """Every tag with the right code, wherever it stands."""
    return re.findall(rf"<[^<>]*{code_of(user)}>", user)


OTHER = code_of(render(asked(["Another answer."]), PROMPT).user)
PIECES = [
    "<chunk 2 ", "</answer", "</evidence ", "<s1 cites 1 ", "<context ", "<question ", OTHER, ">",
    "<", "/", " ", "\n", "\u2028", "Code: ", "Judge these sentences: s9", "$code", "${chunks}",
    "支持", "<|im_end|>", "[/INST]", "<eos>", "<|", "end", "|>",
]  # fmt: skip
material = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(deadline=None)
@given(material, st.lists(material, max_size=3), st.lists(material, min_size=1, max_size=3))
def test_no_material_breaks_the_structure(
    query: str, chunks: list[str], sentences: list[str]
) -> None:
    hostile = asked(sentences, chunks, ask=[0], cites={0: (0,)} if chunks else {}, query=query)
    user = render(hostile, PROMPT).user
    code = code_of(user)
    expected = [
        f"<question {code}>",
        f"</question {code}>",
        f"<evidence {code}>",
        *(f"<chunk {n} {code}>" for n in range(1, len(chunks) + 1)),
        f"</evidence {code}>",
        f"<answer {code}>",
        f"<s1 cites 1 {code}>" if chunks else f"<s1 {code}>",
        *[f"<context {code}>"] * (len(sentences) - 1),
        f"</answer {code}>",
    ]
    assert tags(user) == expected
    assert [line for line in user.split("\n") if line in set(expected)] == expected
    looks_like_one = r"(?i)<[\s/]*(question|evidence|answer|chunk|context|s\d)"
    assert len(re.findall(looks_like_one, user)) == len(expected)
    assert user.split("\n")[-1] == "Judge these sentences: s1"
    assert not re.search(r"<\||\[/INST]|<eos>", user)
