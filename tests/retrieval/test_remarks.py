import pytest

from judge.errors import InputError
from judge.retrieval.records import QueryStatus, RankRules
from judge.retrieval.remarks import NOTES, refuse, warnings


def statuses(
    measured: int = 0, no_gold: int = 0, no_relevant: int = 0, no_ranking: int = 0
) -> dict[QueryStatus, int]:
    return {
        "measured": measured,
        "no_gold": no_gold,
        "no_relevant": no_relevant,
        "no_ranking": no_ranking,
    }


EXACT = RankRules(gold_match="exact")
ZERO = RankRules(no_relevant="zero")


@pytest.mark.parametrize(
    ("counted", "named", "rules", "says"),
    [
        (statuses(), 0, RankRules(), "holds no sample"),
        (statuses(no_gold=3), 0, RankRules(), r"nothing says what is relevant \(3 queries\)"),
        (
            statuses(no_relevant=2, no_gold=1),
            0,
            RankRules(),
            r"nothing is relevant \(2 queries with gold\).*the grades, or pass --no-relevant zero",
        ),
        (statuses(no_ranking=2), 0, RankRules(), r"nothing is ranked \(2 queries with gold\)"),
        (statuses(no_ranking=2), 0, EXACT, r"nothing is ranked \(2 queries with gold\)"),
        (
            statuses(measured=1, no_ranking=5),
            0,
            RankRules(),
            r"\(1 query\).* no letter or digit\), pass --gold-match prefix",
        ),
        (statuses(no_relevant=1), 0, RankRules(relevance_level=3), "from 3 on .*--relevance-level"),
    ],
)
def test_means_of_nothing_are_refused_with_the_way_on(
    counted: dict[QueryStatus, int], named: int, rules: RankRules, says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        refuse(counted, named, rules)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("counted", "named", "rules"),
    [
        (statuses(measured=1), 1, RankRules()),
        (statuses(measured=1), 0, EXACT),
        (statuses(measured=1), 0, RankRules(gold_match="prefix")),
        (statuses(no_relevant=2), 0, ZERO),
        (statuses(measured=1, no_gold=1, no_relevant=1, no_ranking=1), 1, RankRules()),
    ],
)
def test_what_goes_on(counted: dict[QueryStatus, int], named: int, rules: RankRules) -> None:
    refuse(counted, named, rules)


def test_what_is_warned_of() -> None:
    assert warnings(statuses(measured=3), 0, 3, 2, RankRules()) == ()
    told = warnings(statuses(1, 2, 1, 3), 1, 4, 1, RankRules())
    assert told[0].startswith("2 queries without gold: left out")
    assert told[1] == "1 query with nothing relevant: in no mean"
    assert told[2] == "3 queries without a ranking: counted 0 in each mean but roc_auc's"
    assert told[3].startswith("1 query whose ranking names a chunk twice")
    assert len(told) == 4
    other = RankRules(no_relevant="zero", no_ranking="skip", gold_match="prefix")
    told = warnings(statuses(1, 0, 1, 3), 0, 4, 0, other)
    assert told[0] == "1 query with nothing relevant: counted 0 in each mean but roc_auc's"
    assert told[1] == "3 queries without a ranking: in no mean"
    assert "flatters recall" in told[2]
    assert "not one relevant chunk is ranked" in told[3]
    # Where nothing is relevant, nothing could be ranked either.
    assert len(warnings(statuses(no_relevant=2), 0, 0, 0, ZERO)) == 1


def test_the_notes_say_which_measure_is_meant() -> None:
    assert any("Recall@k" in note and "hit@k" in note for note in NOTES)
    assert any("accuracy" in note for note in NOTES)
