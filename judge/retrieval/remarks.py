"""What is to be said of rank measures beside them: notes, warnings, and when there is nothing."""

from collections.abc import Mapping
from typing import Final

from judge.errors import InputError
from judge.retrieval.records import QueryStatus, RankRules

NOTES: Final = (
    (
        "hit@k (hit rate, success@k): one relevant chunk among the first k is enough. Some authors "
        "call that Recall@k; recall@k here is the share of all relevant chunks that are among them."
    ),
    (
        "accuracy@k is high whatever the ranking does where few of many chunks are relevant; to "
        "compare rankings, take ndcg@k or recall@k."
    ),
)


def refuse(statuses: Mapping[QueryStatus, int], named: int, rules: RankRules) -> None:
    """Refuse to give means that would be made of nothing.

    Args:
        statuses: queries by status.
        named: queries whose ranking holds an id that gold names, relevant or not.
        rules: a `gold_match` that is given says that the ids are right.

    Raises:
        InputError: no query has gold, none a ranking, or gold and rankings have no id in common.
    """
    queries = sum(statuses.values())
    with_gold = queries - statuses["no_gold"]
    if not queries:
        message = "holds no sample; one JSON object a line, or CSV under a header, is needed"
        raise InputError(message)
    if not with_gold:
        message = f"nothing says what is relevant ({_queries(queries)}); give each gold_evidence, "
        message += "the ids of the chunks that hold its answer, or relevance, a grade by id"
        raise InputError(message, field="gold_evidence")
    if not with_gold - statuses["no_relevant"] and rules.no_relevant == "skip":
        level = rules.relevance_level
        least = "" if level is None else f" from {level:g} on"
        message = (
            f"nothing is relevant{least} ({_queries(with_gold)} with gold), so there is nothing "
        )
        message += f"to find; check the grades{' and --relevance-level' * (level is not None)}, or "
        raise InputError(message + "pass --no-relevant zero", field="relevance")
    if statuses["no_ranking"] and not statuses["measured"]:
        message = f"nothing is ranked ({_queries(statuses['no_ranking'])} with gold); "
        message += "a sample's ranking is retrieved, a list of ids, or else its chunks; a run's "
        raise InputError(message + "queries must bear the names that the qrels give them")
    if statuses["measured"] and not named and rules.gold_match is None:
        message = f"no ranking holds an id that its gold names ({_queries(statuses['measured'])}), "
        message += "so the two are likely of different naming; if gold names documents (a chunk's "
        message += "id is a document's id, then a character that is no letter or digit), pass "
        message += "--gold-match prefix; if the ids are right, --gold-match exact"
        raise InputError(message)


def warnings(
    statuses: Mapping[QueryStatus, int],
    repeated: int,
    relevant: int,
    found: int,
    rules: RankRules,
) -> tuple[str, ...]:
    """What a reader of these very means must know.

    Args:
        statuses: queries by status.
        repeated: queries whose ranking names a chunk twice.
        relevant: relevant chunks of the averaged queries.
        found: those of them that are ranked.
        rules: how it was measured.
    """
    zero = {
        "no_relevant": rules.no_relevant == "zero",
        "no_ranking": rules.no_ranking == "zero",
    }
    told = (
        (statuses["no_gold"], "without gold: left out, for nobody said what is relevant"),
        (statuses["no_relevant"], f"with nothing relevant: {_counted(zero['no_relevant'])}"),
        (statuses["no_ranking"], f"without a ranking: {_counted(zero['no_ranking'])}"),
        (repeated, "whose ranking names a chunk twice: it counts once, at its first place"),
    )
    said = [f"{_queries(count)} {what}" for count, what in told if count]
    if rules.gold_match == "prefix":
        said.append(
            "gold is matched by document: any chunk of it counts as found, which flatters recall, "
            "and later chunks of it leave the ranking, so that what follows ranks higher"
        )
    if relevant and not found:
        said.append(
            "not one relevant chunk is ranked; check that gold and rankings name them alike"
        )
    return tuple(said)


def _counted(zero: bool) -> str:  # noqa: FBT001  one of two words
    return "counted 0 in each mean but roc_auc's" if zero else "in no mean"


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"
