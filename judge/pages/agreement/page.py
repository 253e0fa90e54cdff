"""A page that says how good the judge is, for whoever has to decide on it."""

from importlib.resources import files

from judge.pages.agreement.chart import chart
from judge.pages.agreement.disagreements import disagreements
from judge.pages.agreement.finding import (
    cautions,
    complete,
    difference,
    headline,
    leading,
    notes,
    stratum_error,
    stratum_name,
    title,
)
from judge.pages.agreement.markup import Html, definitions, figure, outside, table, tag, text, void
from judge.pages.agreement.quality import quality
from judge.pages.agreement.words import Lang, Words
from judge.records import Summary
from judge.review.records import Agreement, CorrectedScore, LabelledStratum
from judge.text.visible import flat


def page(agreement: Agreement, summary: Summary, lang: Lang) -> str:
    """The findings as one HTML5 file that needs no other, to be written as UTF-8.

    Args:
        agreement: what the labels say.
        summary: totals of the run they are from.
        lang: of all that is not quoted.
    """
    words = Words(lang)
    head = tag(
        "head",
        void("meta", charset="utf-8"),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", text(f"{words('title.page')} {flat(agreement.draw)}")),
        tag("style", Html(_style())),
    )
    body = tag(
        "body",
        tag(
            "main",
            _finding(agreement, summary, words),
            quality(agreement, words),
            _strata(agreement, words),
            disagreements(agreement, words),
            _method(agreement, summary, words),
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang={'en': 'en', 'zh': 'zh-Hans'}[lang])}\n"


def _style() -> str:
    return files("judge").joinpath("data", "agreement.css").read_text("utf-8")


def _finding(agreement: Agreement, summary: Summary, words: Words) -> Html:
    parts = [
        tag("h1", text(title(summary, words))),
        tag("p", text(headline(agreement, summary, words)), class_="headline"),
    ]
    if score := leading(agreement):
        parts.append(chart(score, words, whole=complete(agreement)))
    parts += [
        tag("p", text(said), class_="caution") for said in cautions(agreement, summary, words)
    ]
    if agreement.corrected:
        heads = ["name", "judge", "people", "interval", "difference"]
        rows = [_score(score, words, whole=complete(agreement)) for score in agreement.corrected]
        parts.append(table(words("score.caption"), [words(f"score.{h}") for h in heads], rows))
    parts += [tag("p", text(said), class_="note") for said in notes(agreement, words)]
    return tag("section", *parts)


def _score(score: CorrectedScore, words: Words, *, whole: bool) -> list[Html]:
    raw, span = score.raw, words.span(score.low, score.high)
    return [
        text(words(f"score.{score.name}_{score.average}")),
        text(words.unmeasured("raw")) if raw is None else figure(words.percent(raw)),
        figure(words.percent(score.corrected)),
        text(words("reach.whole")) if whole else figure(span),
        text(difference(score, words)),
    ]


def _strata(agreement: Agreement, words: Words) -> Html:
    kind = "sentences" if agreement.by == "sentence" else "answers"
    heads = [kind, f"units_{agreement.by}", "drawn", "labelled", "error"]
    rows = [_stratum(stratum, words) for stratum in agreement.strata]
    return tag(
        "section",
        tag("h2", text(words("title.strata"))),
        table(words("stratum.caption"), [words(f"stratum.{head}") for head in heads], rows),
        tag("p", text(words("stratum.note")), class_="note"),
    )


def _stratum(stratum: LabelledStratum, words: Words) -> list[Html]:
    counts = (stratum.units, stratum.drawn, stratum.labelled)
    cells = (stratum_name(stratum, words), *map(str, counts), stratum_error(stratum, words))
    return [text(cell) for cell in cells]


def _method(agreement: Agreement, summary: Summary, words: Words) -> Html:
    unnamed = words("disagreement.nameless")
    reviewers = words("disagreement.joint").join(name or unnamed for name in agreement.reviewers)
    run = words("method.run_value", answers=summary.answers, claims=summary.claims)
    rows = [
        ("draw", outside(agreement.draw)),
        ("by", text(words(f"method.by_{agreement.by}"))),
        ("run", text(run)),
        ("drawn", text(str(agreement.drawn))),
        ("labelled", text(str(agreement.labelled))),
        ("unlabelled", text(str(agreement.drawn - agreement.labelled))),
        ("labels", text(str(agreement.labels))),
        ("reviewers", outside(reviewers) if reviewers else text(words("method.nobody"))),
        ("scale", text(words(f"method.scale_{_scale(agreement)}"))),
        ("signature", tag("code", outside(agreement.signature))),
    ]
    return tag(
        "section",
        tag("h2", text(words("title.method"))),
        definitions([(words(f"method.{name}"), value) for name, value in rows], "said"),
        *([tag("p", text(words("method.estimator")))] if agreement.corrected else []),
        tag("p", text(words("method.intervals"))),
    )


def _scale(agreement: Agreement) -> str:
    """The scale, or `strict` where a bare no, too, kept the other score from being corrected."""
    names = {score.name for score in agreement.corrected}
    bare = agreement.scale == "full_or_rest" and names == {"faithfulness_strict"}
    return "strict" if bare else agreement.scale
