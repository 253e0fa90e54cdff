"""From what samples hold to what to measure: the rules of the table, one after the other."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, get_args

from judge.advice.catalog import names, needs
from judge.advice.profile import profile
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
from judge.advice.rules import AdviceRule, AdviceTable, Fact, ScenarioRule, advice_table, holds
from judge.messages import Lang, Messages
from judge.records import Sample

_DIFFERENCE: Final = "difference"
"""The reason of a measure that tells something only between two systems."""


def recommend_measures(
    samples: Iterable[Sample], wishes: Wishes | None = None, lang: Lang = "en"
) -> Advice:
    """Which measures fit these samples, which do not, and why.

    Args:
        samples: in any order; with what is relevant (`gold_evidence` or `relevance`) and a ranking
            (`retrieved`, or else the order of `chunks`), as far as there is any.
        wishes: what the numbers are for: what misses and noise cost, how deep rankings are read,
            how many chunks there are to search.
        lang: of the texts.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than `wishes.corpus_size`.
    """
    asked = wishes or Wishes()
    return advise(profile(samples, family_needs(), asked.corpus_size), asked, lang)


def family_needs() -> dict[str, frozenset[str]]:
    """By family: what a sample must hold for any measure of it, retrieval left out."""
    rules = advice_table().family
    return {
        family: held | {also} if (also := rules[family].also) else held
        for family, held in needs().items()
        if family != "retrieval"
    }


def advise(found: Profile, wishes: Wishes, lang: Lang = "en") -> Advice:
    """The same of what was counted before."""
    rules, say = advice_table(), Messages.of("recommend")
    facts = _facts(found, wishes)
    scenario = next((rule for rule in rules.scenario if holds(rule.when, facts)), None)
    facts["scenario"] = scenario.scenario if scenario else None
    facts["unplaced"] = "yes" if found.relevant is not None and scenario is None else "no"
    # No rule but of a scenario advises a measure of retrieval.
    held = [rule for rule in rules.advice if holds(rule.when, facts)] if scenario else []
    advised = tuple(_advised(held, _cutoffs(rules, facts), lang, found.relevant))
    avoided = tuple(_avoided(held, advised, lang))
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
        fired=tuple(
            FiredRule(rule=rule.rule, why=say(f"rule.{rule.text}", lang, **figures))
            for rule in fired
        ),
        families=tuple(_families(found, rules, lang)),
        notes=tuple(
            say(f"note.{note.say}", lang, **figures)
            for note in rules.note
            if holds(note.when, facts)
        ),
    )


def figure(value: Fact) -> str:
    """A number as people write it: whole where it is, else to three digits; a dash for none.

    >>> figure(5_000_000.0), figure(1.5), figure(0.0333), figure(None)
    ('5,000,000', '1.5', '0.0333', '–')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if value == int(value) or value >= 100:  # noqa: PLR2004  of three digits none is behind the point
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cutoff(name: str) -> int | None:
    """The k of a measure's name.

    >>> cutoff("ndcg@10"), cutoff("mrr")
    (10, None)
    """
    k = name.partition("@")[2]
    return int(k) if k else None


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
        "references": found.fitting.get("correctness") or None,
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


def _cutoffs(rules: AdviceTable, facts: Mapping[str, Fact]) -> dict[str, int]:
    held = next((row.at for row in rules.cutoffs if holds(row.when, facts)), {})
    depth = facts["depth"]
    return {**held, "depth": depth, "pool": POOL * depth} if isinstance(depth, int) else held


def _advised(
    rules: Collection[AdviceRule], cutoffs: Mapping[str, int], lang: Lang, relevant: float | None
) -> Iterator[AdvisedMeasure]:
    """Each role as the last rule that speaks of it has it."""
    for role in get_args(Role):
        stated = [(rule, named) for rule in rules if (named := getattr(rule, role)) is not None]
        for rule, named in stated[-1:]:
            for pattern, reason in named:
                name = pattern.format(**cutoffs)
                yield AdvisedMeasure(
                    name=name,
                    role=role,
                    why=_reason(reason, lang),
                    rule=rule.rule,
                    difference=reason == _DIFFERENCE,
                    most=ceiling(name, relevant),
                )


def _reason(name: str, lang: Lang) -> str:
    return Messages.of("recommend")(f"reason.{name}", lang)


def _avoided(
    rules: Iterable[AdviceRule], advised: Iterable[AdvisedMeasure], lang: Lang
) -> Iterator[AvoidedMeasure]:
    """What any rule warns of, once each, less what is advised."""
    told = {each.name.partition("@")[0] for each in advised}
    warned = set()
    for rule in rules:
        for name, reason in rule.avoid:
            if name.partition("@")[0] not in told and name not in warned:
                warned.add(name)
                yield AvoidedMeasure(name=name, why=_reason(reason, lang), rule=rule.rule)


def _families(found: Profile, rules: AdviceTable, lang: Lang) -> Iterator[FamilyAdvice]:
    for family, count in found.fitting.items():
        key = f"family.{family}.{'fits' if count else 'lacks'}"
        figures = {"count": figure(count), "samples": figure(found.samples)}
        yield FamilyAdvice(
            family=family,
            fits=count > 0,
            samples=count,
            why=Messages.of("recommend")(key, lang, **figures),
            measures=names(family),
            command=rules.family[family].command,
        )
