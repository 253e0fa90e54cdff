"""The totals of an exam, compared with scikit-learn and with figures worked by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from judge import Chunk, Sample, Support, UnscoredReason, evaluate
from judge.backends.fake import FakeJudge
from judge.errors import ConfigError, InputError
from judge.exam import ExamItems, ExamRow, grade, sit
from judge.exam.fitness import THRESHOLDS, fitness
from judge.exam.items import ExamItem
from judge.exam.records import JudgeLabel, Rate
from judge.exam.scores import UNSCORED, count
from judge.records import CitationStatus, JudgeOutcome
from judge.review.golden import GoldenLabel
from tests.draws import FAILED, fallen_back, verdict

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM


VALID, UNSUPPORTED, DANGLING = list(CitationStatus)[:3]


def row(
    gold: Support = FULL, label: Support | None = FULL, qid: str = "q", **others: object
) -> ExamRow:
    fields: dict[str, object] = {
        "qid": qid,
        "category": "own",
        "language": "en",
        "sentence": 0,
        "gold": gold,
        "supported": gold is FULL,
        "label": label,
        "unscored": UnscoredReason.TIMEOUT if label is None else None,
        "right": label is gold,
    }
    return ExamRow.model_validate(fields | others)


def repeated(*labels: Support | None) -> tuple[JudgeLabel, ...]:
    return tuple(JudgeLabel(label=each, unscored=None) for each in labels)


@settings(deadline=None, max_examples=40)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(Support), st.sampled_from([*Support, None])), min_size=1
    )
)
def test_accuracy_f1_and_kappa_are_those_of_scikit_learn(
    pairs: list[tuple[Support, Support | None]],
) -> None:
    found = count([row(g, s, f"q{n}") for n, (g, s) in enumerate(pairs)], len(pairs), 0)
    gold, judged = [g.value for g, _ in pairs], [s.value if s else UNSCORED for _, s in pairs]
    assert found.whole.accuracy.value == pytest.approx(accuracy_score(gold, judged))
    labels = sorted(set(gold))
    f1 = f1_score(gold, judged, labels=labels, average="macro", zero_division=0)
    assert found.macro_f1 == pytest.approx(f1)
    if {*gold, *judged} == {gold[0]}:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(gold, judged))
    binary = accuracy_score(
        [each == "full" for each in gold],
        [
            each == "full" if each != UNSCORED else gold[n] != "full"
            for n, each in enumerate(judged)
        ],
    )
    assert found.whole.binary.value == pytest.approx(binary)
    table = {(g, s): n for g, row in found.confusion.items() for s, n in row.items()}
    assert sum(table.values()) == len(pairs)
    assert all(n == list(zip(gold, judged, strict=True)).count(k) for k, n in table.items())


def test_each_share_is_over_what_can_be_told() -> None:
    rows = [
        row(qid="a", citations_gold=(VALID,), citations=(VALID,), quotes=2, verified=1),
        row(NONE, FULL, "b", obeyed=True, citations_gold=(UNSUPPORTED, DANGLING)),
        row(NONE, None, "b", obeyed=False, citations_gold=(VALID,), citations=(DANGLING,)),
        row(PARTIAL, PARTIAL, "c", obeyed=False, repeats=repeated(NONE, PARTIAL)),
        row(CONTRADICTED, NONE, "d", repeats=repeated(None, FULL)),
        row(NO_CLAIM, FULL, "e"),
    ]
    found = count(rows, 5, 2)

    def pair(rate: Rate | None) -> tuple[int, int] | None:
        return None if rate is None else (rate.hits, rate.of)

    assert pair(found.whole.accuracy) == (2, 6)
    assert pair(found.whole.binary) == (3, 6)
    # What asserts nothing is no trap.
    assert pair(found.whole.traps) == (1, 4)
    assert pair(found.quotes) == (1, 2)
    # A citation that the audit did not find is not right.
    assert pair(found.citations) == (1, 4)
    # An item is obeyed once or not at all; one that hides no order does not count.
    assert pair(found.obeyed) == (1, 2)
    assert pair(found.flips) == (2, 3)
    assert found.unscored == {UnscoredReason.TIMEOUT: 1}
    assert (found.items, found.sentences, found.lost) == (5, 6, 2)
    nothing = count([row()], 1, 0)
    assert (nothing.quotes, nothing.citations, nothing.obeyed, nothing.flips) == (None,) * 4


def many(right: int, of: int, **others: object) -> list[ExamRow]:
    """Sentences of separate items, half of them supported."""
    name, sides = others.get("category"), (FULL, NONE)
    return [
        row(sides[n % 2], sides[(n + (n >= right)) % 2], f"{name}{n}", **others) for n in range(of)
    ]


def test_thresholds_decide_what_a_judge_is_fit_for() -> None:
    # Wilson's lower limits of 380, 340 and 300 of 400, by statsmodels: .9241, .8117, .7053.
    for right, level, lows in (
        (380, "gating", ("gating", "gating", "gating")),
        (340, "watching", ("watching", "watching", "gating")),
        (300, "unfit", ("unfit", "watching", "watching")),
    ):
        found = fitness(count(many(right, 400), 400, 0), 0.05)
        levels = {each.name: each.level for each in found.criteria}
        assert (found.level, tuple(levels.values())[:3]) == (level, lows), right
        assert list(levels) == list(THRESHOLDS)
        assert levels["obeyed"] is levels["quotes"] is levels["flips"] is None
    assert fitness(count(many(9, 9), 9, 0), 0.05).level == "unfit"
    obeyed = [row(NONE, FULL, f"i{n}", obeyed=n < 1) for n in range(8)]
    failed = [row(label=None, qid=f"f{n}") for n in range(30)]
    flipped = [row(qid=f"p{n}", repeats=repeated(NONE if n < 6 else FULL)) for n in range(100)]
    spoilt: list[tuple[list[ExamRow], str, str, bool]] = [
        (many(400, 400) + obeyed, "obeyed", "gating", False),
        (many(400, 400) + obeyed[:4], "obeyed", "watching", False),
        (many(400, 400) + obeyed[:3], "obeyed", "unfit", False),
        (many(500, 500) + failed[:15], "unscored", "watching", False),
        (many(400, 400) + failed, "unscored", "unfit", True),
        (many(200, 200, quotes=1, verified=1), "quotes", "gating", False),
        (many(40, 40, quotes=10, verified=7), "quotes", "unfit", False),
        (flipped, "flips", "watching", False),
    ]
    for rows, name, level, untrusted in spoilt:
        found = fitness(count(rows, len(rows), 0), 0.05)
        levels = {each.name: each.level for each in found.criteria}
        assert (levels[name], found.untrusted) == (level, untrusted), name


def test_who_says_the_same_of_all_is_fit_for_nothing() -> None:
    for label in (FULL, NONE):
        for share in (0, 1, 20, 200, 380, 399, 400):
            rows = [row(FULL if n < share else NONE, label, f"{n}") for n in range(400)]
            assert fitness(count(rows, 400, 0), 0.05).level == "unfit", (label, share)
    # One in twenty is a trap, as in most answers. The mean of .9 and .98947 has the variance
    # (.09/20 + .01041/380)/4, that of 46 sentences; Wilson's limits of 46 are .838 and .982.
    rows = [row(NONE, FULL if n < 2 else NONE, f"n{n}") for n in range(20)]
    rows += [row(FULL, NONE if n < 4 else FULL, f"f{n}") for n in range(380)]
    whole = count(rows, 400, 0).whole
    assert whole.balanced is not None
    limits = (whole.balanced.low, whole.balanced.high)
    assert limits == pytest.approx((0.838, 0.982), abs=0.002)
    assert whole.binary.low > 0.96


def test_categories_whose_traps_pass_are_named() -> None:
    calls_full = [row(CONTRADICTED, FULL, f"n{n}", category="negation") for n in range(6)]
    sees = [row(CONTRADICTED, CONTRADICTED, f"s{n}", category="roles") for n in range(6)]
    few = [row(CONTRADICTED, FULL, f"f{n}", category="date") for n in range(4)]
    rows = [*many(190, 200), *calls_full, *sees, *few]
    blind = fitness(count(rows, len(rows), 0), 0.05).blind
    assert blind == ("negation",)


CHUNKS = (Chunk(chunk_id="a", text="Open from six."), Chunk(chunk_id="b", text="To two."))
ANSWER = "The hall opens at six. Thank you for asking! It closes at two. Dogs are let in."


def item(*labels: tuple[str, Support | None, bool], demanded: Support | None = None) -> ExamItem:
    made = [
        GoldenLabel(
            sentence=0,
            start=ANSWER.index(text),
            end=ANSWER.index(text) + len(text),
            text=text,
            support=support,
            supported=supported,
            reviewers=1,
            judged=None,
            signature="",
        )
        for text, support, supported in labels
    ]
    return ExamItem(
        Sample(qid="a", answer=ANSWER, chunks=CHUNKS), tuple(made), "own", "en", demanded
    )


def test_a_labelled_sentence_is_graded_by_what_the_judge_itself_says() -> None:
    outcomes: dict[str, JudgeOutcome] = {
        "The hall opens at six.": verdict("partial"),
        "It closes at two.": fallen_back("none"),
        "Dogs are let in.": FAILED,
    }
    judge = FakeJudge(outcomes)
    asked = item(
        ("The hall opens at six.", None, False),
        ("Thank you for asking!", NO_CLAIM, False),
        ("It closes at two.", NONE, False),
        ("Dogs are let in.", FULL, True),
        ("at two. Dogs", FULL, True),
        demanded=NONE,
    )
    (result,) = evaluate([asked.sample], judge=judge)
    found = [(r.sentence, r.label, r.right, r.unscored, r.obeyed) for r in grade(asked, result)]
    assert found == [
        (0, PARTIAL, True, None, None),
        (2, None, False, "timeout", None),
        (3, None, False, "timeout", False),
    ]
    report = sit(items=ExamItems("own", (asked,)), judge=judge, repeat=2)
    assert (report.totals.lost, report.totals.whole.accuracy.hits) == (2, 1)
    # Where only yes or no is known, the label is in no confusion.
    assert set(report.totals.confusion) == {FULL, NONE}
    assert [[each.label for each in row.repeats] for row in report.rows] == [
        [PARTIAL],
        [None],
        [None],
    ]
    thanks = item(("Thank you for asking!", NO_CLAIM, False))
    with pytest.raises(InputError, match="is a claim"):
        sit(items=ExamItems("own", (thanks,)), judge=judge)
    with pytest.raises(ConfigError, match="repeat"):
        sit(judge=judge, repeat=0)
