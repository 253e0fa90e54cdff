"""Which measures the rules advise for some samples, by what these contain."""

import operator
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import compress
from statistics import median
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, model_validator

from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import sentences_of
from judge.errors import ConfigError, InputError
from judge.inputs.samples import samples_in
from judge.messages import filled
from judge.records import Document, Record, Rules, Sample
from judge.retrieval.ranking import RankedQuery, sample_query
from judge.retrieval.records import DEEPEST, RankRules
from judge.text.visible import clip

Cost = Literal["normal", "high"]
Scenario = Literal["sparse", "dense", "balanced", "imbalanced"]
Role = Literal["primary", "secondary", "supplementary"]

POOL: Final = 10
"""The number of a reranker's candidates, as a multiple of the ranks that are read."""
MOST_CHUNKS: Final = 10**15
"""The largest size of a corpus: far above any real one, and still a number in every ratio."""

PARTS: Final = ("query", "answer", "gold_answer", "gold", "chunks", "retrieved", "citations")
"""The parts of a sample, by the names of `Profile.share`."""

CORPUS_SHARE: Final = 10
"""The share of the corpus, one tenth, that no cut-off exceeds: recall is high further down."""

Fact = float | str | None
"""A fact about the data or the wishes; None if it is unknown."""
Condition = str | tuple[str, ...]
"""A comparison with a number, such as `<= 5`, or the allowed words."""
MeasureReasons = tuple[tuple[str, str], ...]
"""Measures with the names of their reasons."""

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Wishes(Record):
    """The purpose of the measurement, which samples do not show."""

    missed_cost: Cost = "normal"
    """The cost of missing something relevant; only one of the two costs may be high."""
    noise_cost: Cost = "normal"
    """The cost of showing something irrelevant."""
    depth: Annotated[int, Field(ge=1, le=DEEPEST // POOL)] | None = None
    """The number of ranks that are read; null if unknown."""
    corpus_size: Annotated[int, Field(ge=1, le=MOST_CHUNKS)] | None = None
    """The number of chunks to search; if null, irrelevant ones are counted in the rankings."""

    @model_validator(mode="after")
    def _one_high(self) -> Self:
        if self.missed_cost == self.noise_cost == "high":
            raise ValueError("missed_cost and noise_cost cannot both be high: which costs more?")
        return self


class Profile(Record):
    """Counts of what some samples contain."""

    samples: int
    """The number of samples."""
    queries: int
    """The number of queries with something relevant; the medians are over these."""
    relevant: float | None
    """The median of the relevant chunks of a query; null if no query has any."""
    irrelevant: float | None
    """The median of the irrelevant chunks of a query; null if unknown."""
    counted: Literal["corpus", "ranking"] | None
    """Where the irrelevant chunks were counted."""
    graded: bool | None
    """Whether a query has two different grades above 0; null without gold."""
    share: dict[str, float]
    """The share of samples, 0 to 1, that contain each of `PARTS`."""
    fitting: dict[str, int]
    """The number of samples that have everything a family of measures needs, by family."""

    @property
    def ratio(self) -> float | None:
        """The irrelevant chunks for each relevant one, by the medians; null if unknown."""
        if self.relevant is None or self.irrelevant is None:
            return None
        return self.irrelevant / self.relevant


class Reason(Record):
    """A reason, and the rule that gives it."""

    rule: str
    """The name of the rule in the table."""
    why: str
    """The text."""


class AdvisedMeasure(Reason):
    """A measure to use."""

    name: str
    """The name that `judge retrieval` prints: `recall@20`."""
    role: Role
    """The importance of the measure."""


class AvoidedMeasure(Reason):
    """A measure that misleads on such data."""

    name: str
    """The name, such as `recall@k`, or `accuracy@k` of other tools."""


class FamilyAdvice(Record):
    """Whether a family of measures other than retrieval fits the samples."""

    family: str
    """The name of the family."""
    fits: bool
    """Whether any sample has what it needs."""
    samples: int
    """The number of samples that have what it needs."""
    why: str
    """The reason."""
    measures: tuple[str, ...]
    """The measures of the family."""
    command: str
    """The command that computes them."""


class Advice(Document):
    """The measures that fit, those that do not, and the reasons."""

    profile: Profile
    """The profile of the samples."""
    wishes: Wishes
    """The user's wishes."""
    scenario: Scenario | None
    """The scenario; null if the numbers of relevant and irrelevant chunks do not determine it."""
    measures: tuple[AdvisedMeasure, ...]
    """The measures of retrieval to use, primary first; empty without a scenario."""
    avoided: tuple[AvoidedMeasure, ...]
    """The measures of retrieval to avoid, at any cut-off."""
    fired: tuple[Reason, ...]
    """The rule of the scenario, then those that decided on a measure."""
    families: tuple[FamilyAdvice, ...]
    """The other families."""
    notes: tuple[str, ...]
    """More notes."""


class Cutoffs(Record):
    """Cut-offs by name (`small`, `k`, `wide`, `large`), and the conditions for them."""

    when: dict[str, Condition]
    at: dict[str, int]


class Rule(Record):
    """A rule and its conditions. Roles that the rule does not name keep their measures."""

    when: dict[str, Condition]
    rule: str
    """The name of the rule."""
    why: str | None = None
    """The name of the text, if it differs from the rule's."""
    scenario: Scenario | None = None
    primary: MeasureReasons | None = None
    secondary: MeasureReasons | None = None
    supplementary: MeasureReasons | None = None
    avoid: MeasureReasons = ()
    """More measures to avoid."""

    @property
    def text(self) -> str:
        """The name of the text."""
        return self.why or self.rule


class FamilyRule(Record):
    """A family of measures other than retrieval."""

    command: str
    """The command that computes its measures."""
    needs: frozenset[str]
    """The parts that a sample must have, named as in `Profile.share`, or `labels` of people."""
    measures: tuple[str, ...]
    """The names of its measures."""


class AdviceTable(Record):
    """The rules of `judge recommend`, in the order in which they are tried.

    The first `cutoffs` and the first `scenario` that hold are used, and all other rules that hold.
    """

    cutoffs: tuple[Cutoffs, ...]
    scenario: tuple[Rule, ...]
    advice: tuple[Rule, ...]
    note: tuple[Rule, ...]
    family: dict[str, FamilyRule]
    text: dict[Literal["rule", "reason", "note", "fits", "lacks"], dict[str, str]]
    """The texts by name, with figures as `{name}`."""


@cache
def advice_table() -> AdviceTable:
    """Return the rules of `judge recommend`."""
    text = files("judge").joinpath("data", "recommend.toml").read_text("utf-8")
    return AdviceTable.model_validate(tomllib.loads(text))


def holds(
    when: Mapping[str, Condition], facts: Mapping[str, Fact], least: Collection[str] = ()
) -> bool:
    """Return whether every condition holds; an unknown fact fulfils none.

    Facts named in `least` are lower bounds, and fulfil only `>` and `>=`.

    >>> holds({"relevant": "<= 5", "counted": ("corpus",)}, {"relevant": 5.0, "counted": "corpus"})
    True
    >>> holds({"ratio": ">= 0"}, {"ratio": None})
    False
    """
    bounds = {name for name, condition in when.items() if condition[0] == "<"}
    return bounds.isdisjoint(least) and all(
        _holds(condition, facts[name]) for name, condition in when.items()
    )


def _holds(condition: Condition, fact: Fact) -> bool:
    if isinstance(condition, tuple):
        return fact in condition
    sign, number = condition.split()
    compare = _COMPARISONS[sign]
    return isinstance(fact, (int, float)) and compare(fact, float(number))


def recommend_measures(samples: object, wishes: Wishes | None = None) -> Advice:
    """Return which measures fit these samples, which do not, and why.

    Args:
        samples: samples with gold (`gold_evidence` or `relevance`) and a ranking (`retrieved`, or
            else the order of `chunks`), in any order, or rows as `judge.evaluate` takes them.
        wishes: the purpose of the numbers; by default `Wishes()`.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than `wishes.corpus_size`.
    """
    wishes = wishes or Wishes()
    return advise(profile(samples_in(samples, ()), wishes.corpus_size), wishes)


def profile(samples: Iterable[Sample], corpus_size: int | None = None) -> Profile:
    """Count what the samples contain, and how many contain what each family needs."""
    families = advice_table().family
    parts, fitting = Counter[str](), Counter[str]()
    # The number of queries by number of chunks.
    relevant, irrelevant = Counter[int](), Counter[int]()
    count, graded = 0, False
    for sample in samples:
        query = sample_query(sample, RankRules())
        ranked, gold = query.ids.keys(), (query.gold or {}).keys()
        everything = ranked | gold | query.relevance.keys()
        if corpus_size is not None and len(everything) > corpus_size:
            message = f"--corpus-size {corpus_size}: query {clip(sample.qid, 60)!r} alone has "
            message += f"{len(everything)} chunks ranked or relevant; count all there are to search"
            raise ConfigError(message)
        own = _parts(sample, query)
        parts.update(own)
        fitting.update(name for name, family in families.items() if own >= family.needs)
        count += 1
        graded = graded or len(set(query.relevance.values())) > 1
        if gold:
            relevant[len(gold)] += 1
            if corpus_size is not None:
                irrelevant[corpus_size - len(gold)] += 1
            elif ranked:
                irrelevant[len(ranked - gold)] += 1
    if not count:
        raise InputError("holds no sample; one JSON object a line, or CSV, is needed")
    return Profile(
        samples=count,
        queries=relevant.total(),
        relevant=_median(relevant),
        irrelevant=_median(irrelevant),
        counted=None if not irrelevant else "ranking" if corpus_size is None else "corpus",
        graded=graded if parts["gold"] else None,
        share={name: parts[name] / count for name in PARTS},
        fitting={name: fitting[name] for name in families},
    )


def _median(counts: Counter[int]) -> float | None:
    """Return the median of counted numbers; None without any."""
    return float(median(counts.elements())) if counts else None


def _parts(sample: Sample, query: RankedQuery) -> frozenset[str]:
    """Return the names in `PARTS` of what a sample contains."""
    contains = (
        sample.query.strip(),
        sample.answer.strip(),
        (sample.gold_answer or "").strip(),
        query.gold is not None,
        sample.chunks,
        query.ids,
        find(sample, classify(sentences_of(sample)), Rules()).citations,
    )
    return frozenset(compress(PARTS, contains))


def advise(found: Profile, wishes: Wishes) -> Advice:
    """Apply the rules to a profile of the data."""
    rules = advice_table()
    facts = _facts(found, wishes)
    least = ("irrelevant", "ratio") if found.counted == "ranking" else ()
    scenario = next((rule for rule in rules.scenario if holds(rule.when, facts, least)), None)
    facts["scenario"] = scenario.scenario if scenario else None
    facts["unplaced"] = "yes" if found.relevant is not None and scenario is None else "no"
    cutoffs = next((each.at for each in rules.cutoffs if holds(each.when, facts)), {})
    if wishes.depth is not None:
        cutoffs = {**cutoffs, "depth": wishes.depth, "pool": POOL * wishes.depth}
    highest = None
    if wishes.corpus_size is not None:
        highest = max(1, wishes.corpus_size // CORPUS_SHARE, wishes.depth or 0)
    # No measure of retrieval is advised if the scenario is unknown.
    active = [rule for rule in rules.advice if holds(rule.when, facts, least)] if scenario else []
    advised = tuple(_advised(active, cutoffs, highest))
    avoided = tuple(_avoided(active, advised))
    deciding = {each.rule for each in advised} | {each.rule for each in avoided}
    fired: list[Rule] = [scenario] if scenario else []
    fired += [rule for rule in active if rule.rule in deciding]
    figures = {name: figure(fact) for name, fact in facts.items()}

    def text(group: Literal["rule", "note"], rule: Rule) -> str:
        return filled(rules.text[group][rule.text], **figures)

    return Advice(
        profile=found,
        wishes=wishes,
        scenario=scenario.scenario if scenario else None,
        measures=advised,
        avoided=avoided,
        fired=tuple(Reason(rule=rule.rule, why=text("rule", rule)) for rule in fired),
        families=tuple(_families(found)),
        notes=tuple(text("note", rule) for rule in rules.note if holds(rule.when, facts, least)),
    )


def figure(value: Fact) -> str:
    """Return a number as people write it: whole, or with three digits; a dash for None.

    >>> figure(5_000_000.0), figure(1.5), figure(0.0333), figure(None)
    ('5,000,000', '1.5', '0.0333', '–')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if value == int(value) or value >= 100:  # noqa: PLR2004  of three digits none is behind the point
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cutoff(name: str) -> int | None:
    """Return the k in a measure's name.

    >>> cutoff("ndcg@10"), cutoff("mrr")
    (10, None)
    """
    k = name.partition("@")[2]
    return int(k) if k else None


def _facts(found: Profile, wishes: Wishes) -> dict[str, Fact]:
    """Return the facts that conditions are about."""
    return {
        **found.model_dump(exclude={"share", "fitting"}),
        **wishes.model_dump(),
        "ratio": found.ratio,
        "graded": None if found.graded is None else "yes" if found.graded else "no",
        "gold": found.share["gold"],
        "rankings": found.share["retrieved"],
    }


def _advised(
    rules: Collection[Rule], cutoffs: Mapping[str, int], highest: int | None
) -> Iterator[AdvisedMeasure]:
    """Yield the measures of each role, as the last rule that names any for the role says."""
    names = set[str]()
    for role in get_args(Role):
        stated = [rule for rule in rules if getattr(rule, role) is not None]
        for rule in stated[-1:]:
            for pattern, reason in getattr(rule, role):
                name = pattern.format(**cutoffs)
                k = cutoff(name)
                capped = highest is not None and k is not None and k > highest
                if capped:
                    name = f"{name.partition('@')[0]}@{highest}"
                # A capped pool of candidates is no deeper than what is read.
                if name in names or (
                    capped and "{pool}" in pattern and highest == cutoffs["depth"]
                ):
                    continue
                names.add(name)
                why = advice_table().text["reason"][reason]
                yield AdvisedMeasure(name=name, role=role, why=why, rule=rule.rule)


def _avoided(rules: Iterable[Rule], advised: Iterable[AdvisedMeasure]) -> Iterator[AvoidedMeasure]:
    """Yield what the rules warn of, once each, without what is advised."""
    seen = {each.name.partition("@")[0] for each in advised}
    for rule in rules:
        for name, reason in rule.avoid:
            measure = name.partition("@")[0]
            if measure not in seen:
                seen.add(measure)
                why = advice_table().text["reason"][reason]
                yield AvoidedMeasure(name=name, why=why, rule=rule.rule)


def _families(found: Profile) -> Iterator[FamilyAdvice]:
    rules = advice_table()
    for family, rule in rules.family.items():
        count = found.fitting[family]
        text = rules.text["fits" if count else "lacks"][family]
        figures = {"count": figure(count), "samples": figure(found.samples)}
        yield FamilyAdvice(
            family=family,
            fits=count > 0,
            samples=count,
            why=filled(text, **figures),
            measures=rule.measures,
            command=rule.command,
        )
