"""What a notebook shows of an answer or of a run: a piece of a page, with all that it needs."""

from collections.abc import Iterator
from typing import Final

from judge.messages import Lang, language_of
from judge.pages.answers import scores_of
from judge.pages.html import render
from judge.pages.report import Words, tables
from judge.records import SampleResult, Summary
from judge.reports.worst import entries
from judge.scores.answer import by_similarity, support_of

_MOST: Final = 200
"""Sentences of an answer that are shown: a notebook keeps what it showed."""


def answer(result: SampleResult) -> str:
    """An answer in its own language: its scores, and each sentence with what it rests on."""
    shown = result.sentences[:_MOST]
    lang = language_of("".join(each.text for each in shown))
    words = Words(lang)
    names = [flag.name.value for flag in result.flags if flag.sentence is None]
    general = [f"{name}{words('script.colon')}{words.looks(f'flag.{name}')}" for name in names]
    lines = [" · ".join(_scores(result, words)), *general]
    return render(
        "notebook.html",
        lang,
        words=words,
        title=result.qid,
        lines=lines if shown else [*lines, words("script.empty")],
        summary=None,
        sentences=[
            (each, support_of(each.sentence) or "excluded") for each in entries(result)[:_MOST]
        ],
        more=len(result.sentences) - len(shown),
        signature=result.signature,
    )


def _scores(result: SampleResult, words: Words) -> Iterator[str]:
    scores, offline = result.scores, by_similarity(each.outcome for each in result.sentences)
    per = words.figures.percent
    yield words.looks(f"status.{result.status.value}")
    if scores.unscored and scores.faithfulness_bounds:
        low, high = map(per, scores.faithfulness_bounds)
        yield words("script.open", low=low, high=high, unscored=scores.unscored)
    for name, value in scores_of(result).items():
        if value is not None:
            called = "looks_supported" if offline and name == "faithfulness" else name
            yield words(f"script.{called}", value=per(value))


def totals(summary: Summary, lang: Lang = "en", name: str | None = None) -> str:
    """The scores of a run, of this name where it has one."""
    words = Words(lang)
    title = words("title.scores") if name is None else words("title.page", run=name)
    return _run(title, words, lang, summary)


def unfinished(name: str, done: int, every: int, lang: Lang) -> str:
    """A run that has no scores yet."""
    words = Words(lang)
    said = words("notebook.unfinished", done=done, all=every)
    return _run(words("title.page", run=name), words, lang, None, said)


def _run(title: str, words: Words, lang: Lang, summary: Summary | None, *lines: str) -> str:
    return render(
        "notebook.html",
        lang,
        words=words,
        title=title,
        lines=lines,
        summary=summary,
        tables=tables(summary) if summary else (),
        sentences=(),
        more=0,
        signature="; ".join(summary.signatures) if summary else "",
    )
