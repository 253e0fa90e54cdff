"""How far the judge can be trusted: agreement, and what it must be read with."""

from judge.pages.agreement.finding import missing_alpha, missing_kappa
from judge.pages.agreement.markup import Html, definitions, figure, table, tag, text
from judge.pages.agreement.words import Words
from judge.review.records import Agreement, LabelAccuracy, Share


def quality(agreement: Agreement, words: Words) -> Html:
    """The figures that hold for all labels, then those of each label."""
    rows = [*_agreement(agreement, words), *_forecasts(agreement, words)]
    parts = [tag("h2", text(words("title.quality"))), definitions(rows, "figures")]
    if agreement.accuracy:
        parts.append(_accuracy(agreement.accuracy, words))
    return tag("section", *parts)


def _agreement(agreement: Agreement, words: Words) -> list[tuple[str, Html]]:
    share = agreement.agreement
    if share is None:
        equal = text(words.unmeasured("compared"))
    else:
        compared = words.counted("quality.compared", agreement.compared)
        note = words("quality.agreement_note", compared=compared, size=f"{share.size:.0f}")
        equal = _noted(words.share(share), note)
    rate = agreement.base_rate
    shared = words.counted("quality.shared", agreement.shared)
    return [
        (words("quality.agreement"), equal),
        (words("quality.kappa"), _coefficient(agreement.kappa, missing_kappa(agreement), words)),
        (
            words("quality.base_rate"),
            text(words.unmeasured("compared"))
            if rate is None
            else _noted(words.percent(rate), words("quality.base_rate_note")),
        ),
        (
            words("quality.alpha"),
            _coefficient(
                agreement.alpha,
                missing_alpha(agreement),
                words,
                words("quality.alpha_note", shared=shared),
            ),
        ),
    ]


def _forecasts(agreement: Agreement, words: Words) -> list[tuple[str, Html]]:
    errors = {"brier": agreement.brier, "calibration": agreement.calibration_error}
    return [
        (
            words(f"quality.{name}"),
            _coefficient(error, "probability", words, words(f"quality.{name}_note")),
        )
        for name, error in errors.items()
    ]


def _accuracy(accuracy: tuple[LabelAccuracy, ...], words: Words) -> Html:
    heads = ["label", "judged", "labelled", "precision", "recall"]
    rows = [
        [
            text(words.named("label", item.label)),
            text(str(item.judged)),
            text(str(item.labelled)),
            _share(item.precision, "precision", words),
            _share(item.recall, "recall", words),
        ]
        for item in accuracy
    ]
    return table(words("quality.caption"), [words(f"quality.{head}") for head in heads], rows)


def _share(share: Share | None, why: str, words: Words) -> Html:
    return text(words.unmeasured(why)) if share is None else figure(words.share(share))


def _coefficient(value: float | None, why: str, words: Words, note: str = "") -> Html:
    if value is None:
        return text(words.unmeasured(why))
    return _noted(words.coefficient(value), note)


def _noted(value: str, note: str) -> Html:
    strong = tag("strong", figure(value))
    return Html(strong + tag("p", text(note))) if note else strong
