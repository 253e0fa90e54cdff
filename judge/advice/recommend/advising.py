"""From what samples hold to what to measure: the rules of the table, one after the other."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, get_args

from judge.advice.catalog import measure, measures
from judge.advice.recommend.conditions import Fact, holds
from judge.advice.recommend.figures import figure
from judge.advice.recommend.profile import profile
from judge.advice.recommend.table import AdviceRule, Lang, ScenarioRule, Table, table
from judge.advice.records import (
    POOL,
    Advice,
    AdvisedMeasure,
    AvoidedMeasure,
    FamilyAdvice,
    FiredRule,
    Profile,
    Role,
    Wishes,
)
from judge.records import Sample

_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_RETRIEVAL: Final = "retrieval"
_CORRECTNESS: Final = "correctness"
_DIFFERENCE: Final = "difference"
"""The reason of a measure that tells something only between two systems."""


def recommend_measures(
    samples: Iterable[Sample], wishes: Wishes | None = None, lang: Lang = "en"
) -> Advice:
    """Which measures fit these samples, which do not, and why.

    Args:
        samples: in any order; with what is relevant (`gold_evidence` or `relevance`) and a ranking
            (`retrieved`, or else the order of `chunks`), as far as there is any.
        wishes: what the numbers are for.
        lang: of the texts.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than `wishes.corpus_size`.
    """
    asked = wishes or Wishes()
    return advise(profile(samples, needs(), asked.corpus_size), asked, lang)


def needs() -> dict[str, frozenset[str]]:
    """By family: what a sample must hold for any measure of it, retrieval left out."""
    needed: dict[str, frozenset[str]] = {}
    for each in measures():
        if each.family != _RETRIEVAL:
            held = needed.get(each.family, frozenset(each.needs))
            needed[each.family] = held & frozenset(each.needs)
    rules = table().family
    also = {name: rule.also for name, rule in rules.items() if rule.also is not None}
    return {name: held | ({also[name]} if name in also else set()) for name, held in needed.items()}


def advise(found: Profile, wishes: Wishes, lang: Lang = "en") -> Advice:
    """The same of what was counted before."""
    rules = table()
    facts = _facts(found, wishes)
    scenario = next((rule for rule in rules.scenario if holds(rule.when, facts)), None)
    facts["scenario"] = scenario.scenario if scenario else None
    facts["unplaced"] = "yes" if found.relevant is not None and scenario is None else "no"
    # No rule but of a scenario advises a measure of retrieval.
    held = [rule for rule in rules.advice if holds(rule.when, facts)] if scenario else []
    cutoffs = _cutoffs(rules, facts)
    chosen = _Chosen(held, cutoffs, lang, found.relevant)
    advised, avoided = chosen.advised(), chosen.avoided()
    facts |= _reach(advised, found, wishes)
    deciding = {each.rule for each in advised} | {each.rule for each in avoided}
    fired: list[ScenarioRule | AdviceRule] = [scenario] if scenario else []
    fired += [rule for rule in held if rule.rule in deciding]
    figures = {name: figure(fact) for name, fact in facts.items()}
    return Advice(
        lang=lang,
        profile=found,
        wishes=wishes,
        scenario=scenario.scenario if scenario else None,
        measures=advised,
        avoided=avoided,
        fired=tuple(FiredRule(rule=rule.rule, why=rule.of(lang, **figures)) for rule in fired),
        families=tuple(_families(found, rules, lang)),
        notes=tuple(note.of(lang, **figures) for note in rules.note if holds(note.when, facts)),
    )


def cutoff(name: str) -> int | None:
    """The k of a measure's name.

    >>> cutoff("ndcg@10"), cutoff("mrr")
    (10, None)
    """
    k = name.partition("@")[2]
    return int(k) if k else None


def _facts(found: Profile, wishes: Wishes) -> dict[str, Fact]:
    return {
        "relevant": found.relevant,
        "irrelevant": found.irrelevant,
        "ratio": found.ratio,
        "missed": wishes.missed_cost,
        "noise": wishes.noise_cost,
        "depth": wishes.depth,
        "task": wishes.task,
        "counted": found.counted,
        "graded": None if found.graded is None else "yes" if found.graded else "no",
        "queries": found.queries,
        "corpus": wishes.corpus_size,
        "ranked": found.longest,
        "gold": found.share["gold"],
        "rankings": found.share["retrieved"],
        "references": found.fitting.get(_CORRECTNESS) or None,
    }


def _reach(advised: Iterable[AdvisedMeasure], found: Profile, wishes: Wishes) -> dict[str, Fact]:
    """How far down is measured, beside what is ranked and what there is to search."""
    largest = max((cut for each in advised if (cut := cutoff(each.name))), default=0)
    corpus = wishes.corpus_size
    deepest = largest if corpus is None else min(largest, corpus)
    return {
        "deepest": deepest,
        "beyond": deepest - found.longest if found.longest else None,
        "over": None if corpus is None else largest - corpus,
    }


def _cutoffs(rules: Table, facts: Mapping[str, Fact]) -> dict[str, int]:
    held = next((row.at for row in rules.cutoffs if holds(row.when, facts)), {})
    depth = facts["depth"]
    return {**held, "depth": depth, "pool": POOL * depth} if isinstance(depth, int) else held


class _Chosen:
    """What rules come to, one upon the other."""

    def __init__(
        self,
        rules: Collection[AdviceRule],
        cutoffs: Mapping[str, int],
        lang: Lang,
        relevant: float | None,
    ) -> None:
        self._rules = rules
        self._cutoffs = cutoffs
        self._lang: Lang = lang
        self._relevant = relevant

    def advised(self) -> tuple[AdvisedMeasure, ...]:
        """Each role as the last rule that speaks of it has it."""
        return tuple(each for role in _ROLES for each in self._of(role))

    def _of(self, role: Role) -> Iterator[AdvisedMeasure]:
        stated = [(rule, named) for rule in self._rules if (named := rule.role(role)) is not None]
        if not stated:
            return
        rule, named = stated[-1]
        for pattern, reason in named:
            name = pattern.format(**self._cutoffs)
            yield AdvisedMeasure(
                name=name,
                role=role,
                why=table().reason[reason].of(self._lang),
                rule=rule.rule,
                difference=reason == _DIFFERENCE,
                most=ceiling(name, self._relevant),
            )

    def avoided(self) -> tuple[AvoidedMeasure, ...]:
        """What any rule warns of, once each, less what is advised."""
        advised = {measure(each.name).name.partition("@")[0] for each in self.advised()}
        found: dict[str, AvoidedMeasure] = {}
        for rule in self._rules:
            for name, reason in rule.avoid:
                if name.partition("@")[0] not in advised:
                    why = table().reason[reason].of(self._lang)
                    found.setdefault(name, AvoidedMeasure(name=name, why=why, rule=rule.rule))
        return tuple(found.values())


def ceiling(name: str, relevant: float | None) -> float | None:
    """The highest value at a cut-off with so many relevant; None where that is 1.

    >>> ceiling("recall@10", 40.0), ceiling("precision@10", 2.0), ceiling("f1@10", 30.0)
    (0.25, 0.2, 0.5)
    """
    k = cutoff(name)
    if k is None or not relevant:
        return None
    found = min(k, relevant)
    most = {
        "recall": found / relevant,
        "map": found / relevant,
        "precision": found / k,
        "f1": 2 * found / (k + relevant),
    }.get(name.partition("@")[0], 1.0)
    return most if most < 1 else None


def _families(found: Profile, rules: Table, lang: Lang) -> Iterator[FamilyAdvice]:
    for family, count in found.fitting.items():
        rule = rules.family[family]
        figures = {"count": figure(count), "samples": figure(found.samples)}
        yield FamilyAdvice(
            family=family,
            fits=count > 0,
            samples=count,
            why=(rule.fits if count else rule.lacks).of(lang, **figures),
            measures=tuple(each.name for each in measures(family)),
            command=rule.command,
        )
