"""What samples hold, counted as they pass, and which measures the rules advise for it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import compress
from statistics import median
from typing import Final, Literal, get_args

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
from judge.advice.rules import AdviceRule, Fact, Rule, advice_table, holds, measures
from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import sentences_of
from judge.errors import ConfigError, InputError
from judge.inputs.samples import samples_in
from judge.messages import filled
from judge.records import Rules, Sample, Sentence
from judge.scores.correctness import differs
from judge.text.visible import clip

HELD: Final = ("query", "answer", "gold_answer", "gold", "chunks", "retrieved", "citations")
"""The parts of a sample, by the names of `Profile.share`."""

_FENCES: Final = ("```", "~~~")
_RULES: Final = Rules()
_DIFFERENCE: Final = "difference"
"""The reason of a measure that tells something only between two systems."""


def recommend_measures(samples: object, wishes: Wishes | None = None) -> Advice:
    """Which measures fit these samples, which do not, and why.

    Args:
        samples: in any order; with what is relevant (`gold_evidence` or `relevance`) and a ranking
            (`retrieved`, or else the order of `chunks`), as far as there is any. Or rows, as
            `judge.evaluate` takes them.
        wishes: what the numbers are for: what misses and noise cost, how deep rankings are read,
            how many chunks there are to search.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than `wishes.corpus_size`.
    """
    asked = wishes or Wishes()
    return advise(profile(samples_in(samples, ()), family_needs(), asked.corpus_size), asked)


def family_needs() -> dict[str, frozenset[str]]:
    """By family: what a sample must hold for any measure of it, retrieval left out."""
    return {
        family: rule.also.union(*(each.needs for each in measures() if each.family == family))
        for family, rule in advice_table().family.items()
    }


def profile(
    samples: Iterable[Sample],
    families: Mapping[str, Collection[str]],
    corpus_size: int | None = None,
) -> Profile:
    """Count what the samples hold, and how many hold all of `HELD` that each family needs.

    Raises:
        InputError: there is no sample.
        ConfigError: more is ranked or relevant for one query than the corpus is said to hold.
    """
    held, fitting = Counter[str](), Counter[str]()
    # The number of queries by count of chunks, for there are few different counts.
    relevant, irrelevant = Counter[int](), Counter[int]()
    count = empty = longest = differing = 0
    graded = False
    for sample in samples:
        chunks = (chunk.chunk_id for chunk in sample.chunks)
        ranked = frozenset(chunks if sample.retrieved is None else sample.retrieved)
        positive = {name: grade for name, grade in (sample.relevance or {}).items() if grade > 0}
        # What only `gold_evidence` names is graded 1.
        grades = dict.fromkeys(sample.gold_evidence or (), 1.0) | positive
        known = len(ranked | grades.keys())
        gold, degrees = set(grades), set(grades.values())
        if differs(sample):  # hits and recall go by the one, DCG and nDCG by the other
            differing, gold = differing + 1, set(sample.gold_evidence or ())
            degrees = set(positive.values())
        if corpus_size is not None and known > corpus_size:
            message = f"--corpus-size {corpus_size}: query {clip(sample.qid, 60)!r} alone has "
            message += f"{known} chunks ranked or relevant; count all there are to search"
            raise ConfigError(message)
        own = _holdings(sample, ranked)
        held.update(own)
        fitting.update(name for name, needs in families.items() if own.issuperset(needs))
        count += 1
        longest = max(longest, len(ranked))
        graded = graded or len(degrees) > 1
        if grades:
            relevant[len(gold)] += 1
            if corpus_size is not None:
                irrelevant[corpus_size - len(gold)] += 1
            elif ranked:
                irrelevant[len(ranked - gold)] += 1
        elif "gold" in own:
            empty += 1
    if not count:
        raise InputError("holds no sample; one JSON object a line, or CSV, is needed")
    return Profile(
        samples=count,
        queries=relevant.total(),
        without_relevant=empty,
        differing=differing,
        relevant=_median(relevant),
        irrelevant=_median(irrelevant),
        counted=None if not irrelevant else "ranking" if corpus_size is None else "corpus",
        longest=longest,
        graded=graded if held["gold"] else None,
        share={name: held[name] / count for name in HELD},
        fitting={name: fitting[name] for name in families},
    )


def _median(counts: Counter[int]) -> float | None:
    """Return the median of counted numbers; None without any."""
    return float(median(counts.elements())) if counts else None


def _holdings(sample: Sample, ranked: Collection[str]) -> frozenset[str]:
    holds_it = (
        sample.query.strip(),
        sample.answer.strip(),
        (sample.gold_answer or "").strip(),
        sample.gold_evidence is not None or sample.relevance is not None,
        sample.chunks,
        ranked,
        _cites(sample),
    )
    return frozenset(compress(HELD, holds_it))


def _cites(sample: Sample) -> bool:
    """Whether the answer cites. Only answers with a fence are split: brackets in code do not."""
    text = sample.answer
    fenced = any(fence in text for fence in _FENCES)
    whole = Sentence(index=0, start=0, end=len(text), text=text)
    apart = fenced or sample.sentences is not None
    sentences = classify(sentences_of(sample)) if apart else (whole,)
    return bool(find(sample, sentences, _RULES))


def advise(found: Profile, wishes: Wishes) -> Advice:
    """Apply the rules to a profile of the data."""
    rules = advice_table()
    facts = _facts(found, wishes)
    least = ("irrelevant", "ratio") if found.counted == "ranking" else ()
    scenario = next((rule for rule in rules.scenario if holds(rule.when, facts, least)), None)
    facts["scenario"] = scenario.scenario if scenario else None
    facts["unplaced"] = "yes" if found.relevant is not None and scenario is None else "no"
    cutoffs = next((row.at for row in rules.cutoffs if holds(row.when, facts)), {})
    if wishes.depth is not None:
        cutoffs = {**cutoffs, "depth": wishes.depth, "pool": POOL * wishes.depth}
    # No rule but of a scenario advises a measure of retrieval.
    held = [rule for rule in rules.advice if holds(rule.when, facts, least)] if scenario else []
    advised = tuple(_advised(held, cutoffs, found.relevant))
    avoided = tuple(_avoided(held, advised))
    facts |= _reach(advised, found, wishes)
    deciding = {each.rule for each in advised} | {each.rule for each in avoided}
    fired: list[Rule] = [scenario] if scenario else []
    fired += [rule for rule in held if rule.rule in deciding]
    figures = {name: figure(fact) for name, fact in facts.items()}

    def said(group: Literal["rule", "note"], rule: Rule) -> str:
        return filled(rules.text[group][rule.text], **figures)

    return Advice(
        profile=found,
        wishes=wishes,
        scenario=scenario.scenario if scenario else None,
        measures=advised,
        avoided=avoided,
        fired=tuple(FiredRule(rule=rule.rule, why=said("rule", rule)) for rule in fired),
        families=tuple(_families(found)),
        notes=tuple(said("note", rule) for rule in rules.note if holds(rule.when, facts, least)),
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

    >>> [ceiling(f"{name}@10", 40.0) for name in ("recall", "map", "precision", "f1", "ndcg")]
    [0.25, 0.25, None, 0.4, None]
    >>> ceiling("precision@10", 2.0), ceiling("recall@10", None), ceiling("mrr", 40.0)
    (0.2, None, None)
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
    """What conditions are about, by the names of the fields where it is a field."""
    return {
        **found.model_dump(exclude={"share", "fitting"}),
        **wishes.model_dump(),
        "ratio": found.ratio,
        "graded": None if found.graded is None else "yes" if found.graded else "no",
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


def _advised(
    rules: Collection[AdviceRule], cutoffs: Mapping[str, int], relevant: float | None
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
                    why=_reason(reason),
                    rule=rule.rule,
                    difference=reason == _DIFFERENCE,
                    most=ceiling(name, relevant),
                )


def _reason(name: str) -> str:
    return advice_table().text["reason"][name]


def _avoided(
    rules: Iterable[AdviceRule], advised: Iterable[AdvisedMeasure]
) -> Iterator[AvoidedMeasure]:
    """What any rule warns of, once each, less what is advised."""
    told = {each.name.partition("@")[0] for each in advised}
    for rule in rules:
        for name, reason in rule.avoid:
            measure = name.partition("@")[0]
            if measure not in told:
                told.add(measure)
                yield AvoidedMeasure(name=name, why=_reason(reason), rule=rule.rule)


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
            measures=tuple(each.name for each in measures() if each.family == family),
            command=rule.command,
        )
