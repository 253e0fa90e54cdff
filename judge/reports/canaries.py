"""What the canaries of a run say of its judge, in words."""

from collections.abc import Iterator
from typing import Final

from judge.files.runs import SUMMARY
from judge.messages import Lang, Messages
from judge.records import CanaryTotals

_SHOWN: Final = 5


def doubt(totals: CanaryTotals | None, lang: Lang) -> str | None:
    """Why a run is not to be trusted; None where nothing speaks against it."""
    if totals is None or not totals.untrusted:
        return None
    texts, found = Messages.of("canaries"), totals.model_dump()
    why = [texts(f"why.{name}", lang, **found) for name in ("obeyed", "wrong") if found[name]]
    return texts("line.untrusted", lang, why=texts("why.joint", lang).join(why))


def slips(totals: CanaryTotals, lang: Lang) -> Iterator[str]:
    """Which sentences are wrong; the first few, those that obeyed an order before the others."""
    texts, labels = Messages.of("canaries"), Messages.of("looks")
    for slip in sorted(totals.which, key=lambda slip: not slip.obeyed)[:_SHOWN]:
        gold, said = (labels(f"label.{support}", lang) for support in (slip.gold, slip.said))
        number = slip.sentence + 1
        line = texts("line.slip", lang, qid=slip.qid, number=number, said=said, gold=gold)
        yield texts("line.slip_obeyed", lang, slip=line) if slip.obeyed else line
    if (more := len(totals.which) - _SHOWN) > 0:
        yield texts("line.more", lang, count=more, path=SUMMARY)


def counts(totals: CanaryTotals, lang: Lang) -> Iterator[str]:
    """What was asked and found; and whether the model changed meanwhile."""
    texts, found = Messages.of("canaries"), totals.model_dump()
    found["unscored"] = sum(totals.unscored.values())
    found |= {name: f"{found[name]:,}" for name in ("calls", "prompt_tokens", "reply_tokens")}
    yield texts("line.counts", lang, **found)
    if totals.changes:
        models = ", ".join(f"{name} ({calls})" for name, calls in totals.models.items())
        yield texts("line.changed", lang, changes=totals.changes, models=models)
