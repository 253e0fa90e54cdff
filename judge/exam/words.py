"""What an exam says in one language, in sentences and tables: for a terminal and for a page."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from judge.exam.records import (
    ExamComparison,
    ExamReport,
    ExamTotals,
    Fitness,
    Group,
    PairedRates,
    Rate,
    Sitting,
    Turn,
)
from judge.exam.scores import UNSCORED
from judge.messages import LANGS, Lang, Messages
from judge.records import Support
from judge.review.census import NEVER_PARTIAL
from judge.signature import Signature
from judge.text.visible import flat, short

_ABSENT: Final = "–"
_LEAST_P: Final = 0.001


class Sheet(NamedTuple):
    """A table, whose first column names the rows."""

    heads: tuple[str, ...]
    """What its columns are called."""
    rows: Sequence[tuple[str, ...]]
    """Its cells."""


class Words:
    """All that is said of an exam in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        self._texts = Messages.of("exam")

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name`, filled in."""
        return self._texts(key, self.lang, **values)

    def looks(self, key: str) -> str:
        """The word for what a result holds."""
        return Messages.of("looks")(key, self.lang)

    def label(self, said: Support | None) -> str:
        """The word for what was said."""
        return self.looks(f"label.{said or UNSCORED}")

    def gold(self, label: Support | None, *, supported: bool) -> str:
        """The word for the right label, or for the side on which it is."""
        known = label or (Support.FULL if supported else None)
        return self.label(known) if known else self("against.rest")

    def category(self, name: str | None) -> str:
        """The word for a category that ships; the name itself of one's own."""
        key = f"category.{name}"
        if name is None:
            return self("table.all")
        return self(key) if key in self._texts else short(name)

    def title(self, report: ExamReport) -> str:
        """Which items, and how many."""
        sizes = {"items": report.totals.items, "sentences": report.totals.sentences}
        return self("title", version=flat(report.items), **{k: f"{n:,}" for k, n in sizes.items()})

    def fit(self, report: ExamReport) -> str:
        """What the judge is fit for."""
        totals = report.totals
        share = sum(totals.unscored.values()) / totals.sentences
        fit = report.fitness
        key = "spent" if fit.spent else "untrusted" if fit.untrusted else fit.level
        return self(f"fit.{key}", share=f"{100 * share:.1f} %")

    def blind(self, fit: Fitness) -> Iterator[str]:
        """The categories that it does not see, in a line for each way of not seeing."""
        for why in dict.fromkeys(spot.why for spot in fit.blind):
            named = (
                self("blind.spot", category=self.category(spot.category), **_counts(spot.found))
                for spot in fit.blind
                if spot.why == why
            )
            yield self(f"blind.{why}", spots=self("blind.joint").join(named))
        if not fit.blind:
            yield self("blind.none")

    def facts(self, report: ExamReport) -> Iterator[str]:
        """All that is known beside accuracy, in a line each."""
        say, totals, cost = partial(self._say, "line"), report.totals, report.cost
        if Signature.parse(report.signature).source in NEVER_PARTIAL:
            yield say("coarse")
        if never := [each for each in totals.labels if not each.said]:
            told = (say("label", label=self.label(x.label), count=f"{x.gold:,}") for x in never)
            yield say("never", labels=self("blind.joint").join(told))
        yield say("scores", f1=number(totals.macro_f1), kappa=number(totals.kappa))
        rates = {"quotes": totals.quotes, "citations": totals.citations, "obeyed": totals.obeyed}
        for name, found in (rates | totals.flips).items():
            if found is not None:
                limits = {"low": number(found.low), "high": number(found.high)}
                yield say(name, rate=say("rate", **_counts(found), **limits))
        if totals.unscored:
            why = totals.unscored.items()
            told = (say("reason", count=n, reason=self.looks(f"unscored.{x}")) for x, n in why)
            yield say("unscored", reasons=say("joint").join(told))
        if cost.calls:
            seconds = cost.seconds
            yield say(
                "cost",
                calls=f"{cost.calls:,}",
                prompt=f"{cost.prompt_tokens:,}",
                reply=f"{cost.reply_tokens:,}",
                price="" if cost.cost is None else say("price", cost=f"{cost.cost:,.4g}"),
                seconds="" if seconds is None else say("seconds", seconds=f"{seconds:.1f}"),
            )

    def thresholds(self, fit: Fitness) -> Sheet:
        """What was held against which threshold, a criterion a row."""
        heads = self._heads("table", "threshold", "found", "gating", "watching", "fit")
        rows = []
        for each in fit.criteria:
            side = "table.least" if each.least else "table.most"
            bounds = (self(side, bound=f"{bound:g}") for bound in (each.gating, each.watching))
            level = self(f"level.{each.level or 'open'}")
            rows.append((self(f"criterion.{each.name}"), number(each.value), *bounds, level))
        return Sheet(heads, rows)

    def groups(self, totals: ExamTotals) -> Sheet:
        """Accuracy of all and by category, and of each in both languages; a row of `categories`."""
        names = ("name", "category", "interval", *LANGS, "binary", "traps", "sentences")
        found = {(each.category, each.language): each for each in totals.groups}
        rows = [
            (
                self.category(group.category),
                number(group.accuracy.value),
                f"{number(group.accuracy.low)}–{number(group.accuracy.high)}",
                *(_right(found.get((group.category, language))) for language in LANGS),
                number(group.binary.value),
                _of(group.traps),
                f"{group.accuracy.of:,}",
            )
            for group in categories(totals)
        ]
        return Sheet(self._heads("table", *names), rows)

    def confusion(self, totals: ExamTotals) -> Sheet:
        """How often each label was said, a right label a row."""
        columns = (*Support, *([UNSCORED] if totals.unscored else []))
        heads = (self("table.confusion"), *(self.looks(f"label.{each}") for each in columns))
        rows = [
            (self.label(gold), *(f"{said[x]:,}" if x in said else "·" for x in columns))
            for gold, said in totals.confusion.items()
        ]
        return Sheet(heads, rows)

    def verdict(self, found: ExamComparison) -> str:
        """What becomes of accuracy, in a line."""
        rates, p = found.accuracy, _chance(found.accuracy.p)
        return self(
            f"verdict.{found.verdict}",
            points=f"{abs(100 * rates.difference):.1f}",
            p=p if p.startswith("<") else f"= {p}",
            first=number(rates.first / rates.of),
            now=number(rates.now / rates.of),
            low=points(rates.low),
            high=points(rates.high),
            sees=f"{100 * found.sees:.1f}",
        )

    def versus(self, found: ExamComparison) -> str:
        """Over what two sittings are compared."""
        sizes = {"items": found.now.totals.items, "sentences": found.accuracy.of}
        return self("against.title", **{name: f"{size:,}" for name, size in sizes.items()})

    def cautions(self, found: ExamComparison) -> Iterator[str]:
        """What stands in no figure of a comparison."""
        if found.first.items != found.now.items:
            versions = {"first": found.first.items, "now": found.now.items}
            yield self("against.other_items", **{name: flat(x) for name, x in versions.items()})
        if found.only_first or found.only_now:
            yield self("against.only", first=f"{found.only_first:,}", now=f"{found.only_now:,}")

    def apart(self, found: ExamComparison) -> str:
        """In what the two were judged differently."""
        parts = flat("; ".join(found.apart))
        return self("against.apart", parts=parts) if parts else self("against.alike")

    def changes(self, found: ExamComparison) -> Sheet:
        """By all labels, by full or rest, and by categories; a row of `changed`."""
        names = ("first", "now", "difference", "interval", "turned", "p", "p_holm")
        firsts = [self("against.accuracy"), self("against.binary")]
        rates = changed(found)
        firsts += [self.category(each.category) for each in rates[2:]]
        rows = [
            (
                name,
                number(each.first / each.of),
                number(each.now / each.of),
                points(each.difference),
                f"{points(each.low)} … {points(each.high)}",
                f"{each.better:,} / {each.worse:,}",
                _chance(each.p),
                _ABSENT if each.p_holm is None else _chance(each.p_holm),
            )
            for name, each in zip(firsts, rates, strict=True)
        ]
        return Sheet((self("table.name"), *self._heads("against", *names)), rows)

    def unchanged(self, found: ExamComparison) -> str:
        """The categories in which nothing turned, in a line; empty where there are none."""
        rates = changed(found)
        names = [self.category(r.category) for r in found.categories if r not in rates]
        return self("against.same", names=self("blind.joint").join(names)) if names else ""

    def beside(self, found: ExamComparison) -> Sheet:
        """What else is known of both sittings."""
        figures = zip(_figures(found.first), _figures(found.now), strict=True)
        rows = [
            (self(f"against.{name}"), first, now)
            for (name, first), (_, now) in figures
            if (first, now) != (_ABSENT, _ABSENT)
        ]
        return Sheet(self._heads("against", "figure", "first", "now"), rows)

    def turned(self, turns: Iterable[Turn], title: str) -> Sheet:
        """Sentences that turned, under a title."""
        heads = (title, *self._heads("against", "sentence", "gold", "first", "now"))
        rows = [
            (
                short(turn.qid),
                f"{turn.sentence + 1}",
                self.gold(turn.gold, supported=turn.supported),
                self.label(turn.first),
                self.label(turn.now),
            )
            for turn in turns
        ]
        return Sheet(heads, rows)

    def _say(self, group: str, key: str, **values: object) -> str:
        return self(f"{group}.{key}", **values)

    def _heads(self, group: str, *names: str) -> tuple[str, ...]:
        return tuple(self(f"{group}.{name}") for name in names)


def categories(totals: ExamTotals) -> list[Group]:
    """All sentences, then those of each category, in both languages."""
    return [group for group in totals.groups if group.language is None]


def changed(found: ExamComparison) -> list[PairedRates]:
    """By all labels, by full or rest, and by each category in which a sentence turned."""
    own = [each for each in found.categories if each.better + each.worse]
    return [found.accuracy, found.binary, *own]


def number(value: float | None) -> str:
    """A share to three digits; a dash where there is none."""
    return _ABSENT if value is None else f"{value:.3f}"


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign.

    >>> points(-0.0123), points(0.0004)
    ('−1.2', '0.0')
    """
    said = f"{100 * difference:+.1f}"
    return "0.0" if said in {"+0.0", "-0.0"} else said.replace("-", "\N{MINUS SIGN}")


def _chance(p: float) -> str:
    return f"< {_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"


def _figures(side: Sitting) -> Iterator[tuple[str, str]]:
    """A key among the messages, and the figure that it calls."""
    totals, cost = side.totals, side.cost
    yield "quotes", _of(totals.quotes)
    yield "citations", _of(totals.citations)
    yield "obeyed", _of(totals.obeyed)
    yield "unscored", f"{sum(totals.unscored.values()):,}/{totals.sentences:,}"
    tokens = (cost.prompt_tokens + cost.reply_tokens) / side.asked
    yield "tokens", f"{tokens:,.0f}" if cost.calls else _ABSENT
    yield "cost", _ABSENT if cost.cost is None else f"{cost.cost / side.asked:,.4g}"
    yield "seconds", _ABSENT if cost.seconds is None else f"{cost.seconds:.1f}"


def _right(group: Group | None) -> str:
    return number(group.accuracy.value if group else None)


def _of(found: Rate | None) -> str:
    return f"{found.hits:,}/{found.of:,}" if found else _ABSENT


def _counts(found: Rate) -> dict[str, str]:
    return {"hits": f"{found.hits:,}", "of": f"{found.of:,}"}
