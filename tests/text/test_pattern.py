import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.pattern import compile_pattern

TEXTS = (
    "So <ref>2</ref>. ##9$$ docA#chunk4, docX#1 【4:2†源】[1][2023] So #2.<3> 来源[注①] 〔２〕",
    "ab aab xx x{}xx e\u0301a ①² a{e<=1} \x1c b\u200db [:al] STRASSE ss ſ doc adoc |b&& +,--\n1-1",
)

# Those of our guide, help and tests; then what `regex` reads otherwise than `re`.
# fmt: off
PATTERNS = (
    r"<ref>(\w+)</ref>", r"##(\d+)\$\$", r"doc\w#\w+", r"【\d+:(\d+)†[^】]*】", r"\[(\d+)\]",
    r"(p\d)?#(\d)", "x*", "x", "", r"<(\d)>", r"<(\d+)>", r"\[[^\]]*\]", r"(?P<id>\d+)-(?P=id)",
    r"\bdoc\b", r"\Bdoc", r"\b\w+\b", r"[\w-]+#[^\W\d]+", r"[^\S\n]+\S+", r"[\W]+", r"[\s\S]b",
    r"[\S]+", r"a{e<=1}", r"x{}{,2}", "x{,}", r"a{1,2}+b", "(?>a+)b?", "(?:(?:)|a)", "(a|b)*",
    r"(?x) a  # b[( {e}", r"(?#c{e}\[)a", "(?i)straße", r"(?a)\w+[^\w]", r"(?a)[\W]a",
    "(a)?(?(1)b|c)", "[]a[]+", "[^]a[]+", r"\N{LEFT SQUARE BRACKET}\d", r"(?m)^\w+$", r"\Aa|1\Z",
    r"(?<=\[)\d+(?=\])",
)
PIECES = (
    "a", "b", "[", "]", r"\[", r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", ".", "[ab]", "[^a]",
    r"[\w-]", r"[\S]", r"[\W]", "#", "{", "{e}", "^", "$", r"\Z", "1", "中", "①",
)
REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{0,1}?", "*+", "++")
# fmt: on
GROUPS = ("({})", "(?:{})", "(?={})", "(?!{})", "(?>{})", *(f"(?:{{}}){r}" for r in ("*", "+")))


def told_by_re(pattern: str, text: str) -> list[tuple[int, int, str]]:
    found = [match for match in re.finditer(pattern, text) if match[0]]
    held = [(match.re.groups and match[1]) or match[0] for match in found]
    return [(*match.span(), each.strip()) for match, each in zip(found, held, strict=True)]


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
def test_a_pattern_finds_what_re_finds() -> None:
    for pattern in PATTERNS:
        for text in TEXTS:
            assert compile_pattern(pattern).find(text) == told_by_re(pattern, text), pattern


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@given(
    st.recursive(
        st.sampled_from(PIECES),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.tuples(inner, inner).map("|".join),
            st.tuples(st.sampled_from(GROUPS), inner).map(lambda both: both[0].format(both[1])),
            st.tuples(inner.map("(?:{})".format), st.sampled_from(REPEATS)).map("".join),
        ),
        max_leaves=6,
    ),
    st.text("ab[]{}e1 .#\n中①\u0301", max_size=12),
)
def test_any_pattern_finds_what_re_finds(pattern: str, text: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        with pytest.raises(ValueError, match="is no regular expression"):
            compile_pattern(pattern)
    else:
        assert compile_pattern(pattern).find(text) == told_by_re(pattern, text)


def test_what_is_no_pattern_or_too_much_of_one_is_refused() -> None:
    rows = [
        ("(unclosed", "no regular expression: missing )"),
        ("a{1,99999}{1,99999}", "no regular expression: multiple repeat"),
        ("a{99999999999999999999}", "no regular expression: the repetition number is too large"),
        ("(" * 5_000 + ")" * 5_000, "too many brackets within brackets"),
        # `regex` writes the least repeats out: the first would fill the memory of any machine.
        ("a{4000000000}", "more than 100,000 times"),
        ("(?:(?:a{1000}){1000})b", "more than 100,000 times"),
        (r"\p{L}", r"bad escape \p"),
        ("(?R)", "unknown extension"),
    ]
    for pattern, told in rows:
        with pytest.raises(ValueError, match=r".") as caught:
            compile_pattern(pattern)
        assert told in str(caught.value)
    uuid = "-".join(f"[0-9a-f]{{{count}}}" for count in (8, 4, 4, 4, 12))
    assert compile_pattern(f"(?:a{{1,99999}}){{1,99999}}|({uuid})#({uuid})").find("aa")


# Each takes a second of computing, which is the limit.
def test_a_pattern_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(TimeoutError, match=r"takes more than 1\.\d s of computing"):
        compile_pattern("(.*)*x").find("x" + "a" * 60_000)


@pytest.mark.no_cover
def test_a_pattern_is_not_charged_for_what_others_compute() -> None:
    # Over a second: a part of the limit for each thread, and more than that for all together.
    find = compile_pattern(r"(\[\d+\])*$").find
    text = "[1]" * 1_000 + "x"
    failed = []

    def run() -> None:
        try:
            assert find(text) == []
        except TimeoutError as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_known_dangers_are_none() -> None:
    # What `re` does not end in a lifetime, and `regex` does at once.
    rows = [
        ("(a+)+$", "a" * 40 + "!"),
        ("(x+x+)+y", "x" * 60),
        (r"^(\w+\s?)*$", "aaaa " * 30 + "!"),
    ]
    assert [compile_pattern(pattern).find(text) for pattern, text in rows] == [[], [], []]


def test_a_long_text_is_read_through() -> None:
    text = "如此【4:2†源】。" * 50_000
    assert len(compile_pattern(r"【\d+:(\d+)†[^】]*】").find(text)) == 50_000
