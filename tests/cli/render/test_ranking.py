import io

import pytest
from rich.console import Console

from judge.cli.render.ranking import print_ranked
from judge.records import Chunk, Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankingReport, RankRules

TEXT = "Employees who travel abroad may claim up to eighty euros a day for meals and taxis."


def told(report: RankingReport, width: int = 80) -> str:
    out = io.StringIO()
    print_ranked(report, Console(file=out, width=width, highlight=False))
    return out.getvalue()


def report(*samples: Sample, most: int = 5, ks: tuple[int, ...] = (1, 3)) -> RankingReport:
    return measure_retrieval(samples, RankRules(ks=ks), most=most)


FIRST = Sample(qid="first", query="Where?", retrieved=("a", "b"), gold_evidence=("a",))
THIRD = Sample(
    qid="third",
    query="差旅住宿标准怎么规定？",
    retrieved=("a", "b", "c", "d"),
    relevance={"c": 0.5, "d": 3, "x": 1},
)


def test_means_with_their_intervals() -> None:
    lines = told(report(FIRST, THIRD)).splitlines()
    # MRR (1 + 1/3) / 2; Wilson's interval of 2/3 with n = 2 is .1594 to .9548.
    (mrr,) = [line for line in lines if line.split()[:2] == ["mrr", "0.667"]]
    assert mrr.split() == ["mrr", "0.667", "0.159–0.955", "2"]
    header = next(line for line in lines if line.split()[:2] == ["first", "k"])
    assert header.split()[2:] == ["@1", "@3"]
    (hit,) = [line for line in lines if line.split()[:1] == ["hit"]]
    assert hit.split() == ["hit", "0.500", "1.000"]
    # DCG has no upper limit, and of two queries there is no other interval.
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["dcg"])
    assert lines[at + 1].split()[0] == "ndcg"
    assert lines[at + 2].split()[0].count("–") == 1
    # A measure that no query has is no number.
    alone = Sample(qid="q", retrieved=("a",), gold_evidence=("a",))
    (area,) = [each for each in told(report(alone)).splitlines() if "roc_auc" in each]
    assert area.split() == ["roc_auc", "–", "–", "0"]


def test_a_mean_with_limits_at_some_cut_offs_shows_those() -> None:
    # Nothing relevant stands first: DCG@1 is 0 fifty times, and @3 is drawn.
    many = (
        Sample(qid=str(number), retrieved=("a", "b", "c"), gold_evidence=("bc"[number % 2],))
        for number in range(50)
    )
    lines = told(report(*many)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["dcg"])
    assert lines[at].split()[1] == "0.000"
    (limits,) = lines[at + 1].split()
    low, high = map(float, limits.split("–"))
    # Each is 1/log2 3 or 1/log2 4, at rank 2 or 3.
    assert 0.5 < low < (0.5 + 0.63093) / 2 < high < 0.631
    assert lines[at + 1].index(limits) > lines[at].index("0.000") + len("0.000")


def tabled(text: str) -> dict[str, str]:
    """By measure and cut-off, the mean in its column; each table stands under its header."""
    found: dict[str, str] = {}
    ks: list[str] = []
    for words in map(str.split, text[: text.index("in the means")].splitlines()):
        if words[:2] == ["first", "k"]:
            ks = words[2:]
        elif ks and words and words[0].isalnum() and not words[0][0].isdecimal():
            found |= {words[0] + k: mean for k, mean in zip(ks, words[1:], strict=True)}
    return found


@pytest.mark.parametrize(("width", "tables"), [(40, 6), (80, 3)])
def test_more_cut_offs_than_the_terminal_is_wide(width: int, tables: int) -> None:
    many = report(FIRST, THIRD, ks=(1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 1000))
    text = told(many, width)
    # The table above them has no columns to spare.
    head = text[text.index(" first k") : text.index("in the means")].splitlines()[:-1]
    assert len([line for line in head if "first k" in line]) == tables
    assert max(map(len, head)) <= width
    assert "…" not in "".join(head)
    cut = {name: mean for name, mean in many.mean.items() if "@" in name}
    assert len(cut) == 9 * 12
    assert tabled(text) == {name: f"{mean:.3f}" for name, mean in cut.items()}


def test_lists_for_a_person() -> None:
    text = " ".join(told(report(FIRST, THIRD)).split())
    assert "2 of 2 queries in the means; 2 of 4 relevant not in the first 3; 1 query with" in text
    assert "third ap 0.278, 2 of 3 relevant among 4 ranked, the first at rank 3" in text
    assert "third d (relevance 3) stands at rank 4" in text
    assert "third x is not ranked at all" in text
    assert "third a, b above; the first relevant is at 3" in text
    assert "差旅住宿标准怎么规定？" in text


def test_lists_of_little() -> None:
    text = told(report(FIRST))
    assert "Worst queries" in text
    for title in ("Relevant, and not", "Irrelevant on top", "Alike"):
        assert title not in text
    assert "Worst" not in told(report(FIRST, most=0))
    assert "Some authors call that Recall@k" in " ".join(text.split())
    assert f"made by {report(FIRST).signature}\n" in text
    none = Sample(qid="none", retrieved=tuple("bcdefghij"), gold_evidence=("a",))
    text = " ".join(told(report(FIRST, none, ks=(9,))).split())
    assert "b, c, d, e, f and 4 more above; nothing relevant is ranked" in text
    assert "0 of 1 relevant among 9 ranked" in text
    text = " ".join(told(report(FIRST, Sample(qid="none", gold_evidence=("a", "b")))).split())
    assert "none ap 0.000, 0 of 2 relevant, nothing is ranked first" in text
    assert "among 0 ranked" not in text


def test_pairs_of_chunks() -> None:
    chunks = tuple(Chunk(chunk_id=name, text=TEXT) for name in "ab")
    text = told(report(Sample(qid="q", chunks=chunks, gold_evidence=("a",))))
    assert "1 near-duplicate pair in the first 3" in text
    assert "a (rank 1) and b (rank 2) are near-duplicates, 100% shared" in " ".join(text.split())


def test_who_is_not_measured_is_named() -> None:
    bare = [Sample(qid=f"没{number}", retrieved=("a",)) for number in range(120)]
    text = told(report(FIRST, *bare))
    assert "warning: 120 queries without gold: left out" in text
    assert "no gold: 没0, 没1, 没2, 没3, 没4 and 115 more" in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_what_is_said_fits_the_terminal(width: int) -> None:
    long = Sample(qid="编号" * 40, query="问" * 200, retrieved=("文" * 90,), gold_evidence=("x",))
    text = told(report(FIRST, THIRD, long), width)
    said = [line for line in text[text.index("3 of 3") :].splitlines() if "|" not in line]
    assert max(sum(1 + (char > "\u2e80") for char in line) for line in said) <= width
    assert "编号" in text


def test_hostile_names_are_shown_and_not_obeyed() -> None:
    name = "[red]a\x1b[2Jb\x07\u202ec\nd"
    hostile = Sample(
        qid=name, query=name, retrieved=("x", name, name), gold_evidence=(name, name + "y")
    )
    text = told(report(hostile, Sample(qid=name * 2, retrieved=(name,))))
    assert "[red]a␛[2Jb␇" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
