"""Additions: what a claim says beside what its evidence says, in words that stand nowhere."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from judge.checks.clauses import Clause, Word
from judge.text.words import stem

_JOINT: Final = re.compile(
    r"(?<![^\W_])(?:and|or|with|by|which|without|including|plus)(?![^\W_])|、|和|以及|及|并|由|，",
    re.IGNORECASE,
)
_HANGS: Final = re.compile(
    r"\W*(?:(?:for|in|on|at|of|to|from|per|a|an|each|every|during|before|after|until)(?![^\W_]).*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Between what is added and what of the evidence follows it, on which both hang."""
_HAN_COMMA: Final = re.compile("，")
_CLAUSE: Final = 2
"""Characters of its own with which a Chinese clause must begin."""
_LISTED: Final = ("and", "or")
"""What joins the last of several things; two that it joins may be one thing said twice."""
_SHORT: Final = {True: 10, False: 20}
"""Words of a claim, and characters of a Chinese one: a longer one says more in words of its own."""
_TELLING: Final = 0.5
"""What is added weighs as much, or it may be only another way to put it."""
_WHOLE: Final = {True: 14, False: 24}
"""The same of one whose only words of its own stand together."""
_FEW: Final = 3
_BESIDES: Final = re.compile(
    r"(?<![^\W_])(?:with|without|including|plus|free of)(?![^\W_])", re.IGNORECASE
)
"""What brings in a circumstance of which the rest says nothing."""
_BOUNDS: Final = ("at-least", "at-most")
_HAN_LIGHT: Final = frozenset("要有每由不在的了到已可会能将应须需超过之间")
_HAN_LOOSE: Final = re.compile(
    "主要|通常|一般|目前|如今|当前|平时|位于|坐落于|[市境]内|大约|约|已经?|曾|还|也|均|都|则|即|便|高?达"
)
"""Adverbs and grammar, which add nothing to what is said."""
_BARE: Final = (
    "obtain get receive give make provide undergo involve conduct 得到 获得 取得 获 征得 进行 作出"
    " 做出 予以 加以 给予 需要 属于 拥有 具有 来自 用于"
)
_BARE_VERBS: Final = frozenset(map(stem, _BARE.split()))
"""Verbs that say no more than the noun beside them: `must obtain consent`."""
_WEIGHTY: Final = 0.35
_NEARLY: Final = 0.95
"""Words that the sentence has at least, the weight of those it lacks, its share of the rest."""
_SURPLUS: Final = {True: 0.8, False: 1.2}
"""What is added weighs so much at least, in English and in Chinese."""
_LEFT: Final = 0.6
"""What of the sentence the claim may lack, as a share of that."""
_LED: Final = re.compile(
    r"(?<![^\W_])(?:because|due to|owing to|thanks to|after|before|unless|only if|but|and"
    r"|without|including|plus|as well as|in response to|in order to|as part of|at the|driven by"
    r"|following|which|despite)(?![^\W_])|因|由于|为了?|但|并|且|和|及|与|还|经|随|在|受",
    re.IGNORECASE,
)
"""What brings in an addition."""
_REST: Final = 0.8
"""The evidence has so much of the rest, by weight, or it speaks of something else."""


def addition(own: Sequence[Clause], near: Sequence[Clause]) -> str | None:
    """A part of a claim whose words stand nowhere, beside what the evidence has.

    It stands in a list, or behind `by` or `with`: nothing else that says it in other words can be
    left out.
    """
    words = [word for clause in own for word in clause.words]
    if not words or len(words) > _SHORT[own[0].latin]:
        return None
    had = {word for word in words if any(clause.having(word) for clause in near)}
    whole = sum(word.weight for word in words)
    for part in _parts(own):
        lead = []
        for word in part:
            if word in had:
                break
            if word.key not in _BARE_VERBS:
                lead.append(word)
        if len(lead) < len(part) and lead and own[0].latin:
            between = own[0].text[lead[-1].end : part[len(lead)].start]
            if not between.strip() or not _HANGS.fullmatch(between):
                continue
        # One character, or one word behind a comma, is too little.
        behind = _HAN_COMMA.match(own[0].text, part[0].start - 1 if part else 0)
        if len(lead) < _CLAUSE and (behind or len("".join(word.key for word in lead)) < _CLAUSE):
            continue
        rest = whole - sum(word.weight for word in lead)
        kept = sum(word.weight for word in had)
        if sum(word.weight for word in lead) >= _TELLING and kept >= _REST * rest > 0:
            return own[0].text[lead[0].start : lead[-1].end]
    return None


def insertion(own: Sequence[Clause], sentences: Sequence[Sequence[Clause]]) -> str | None:
    """Words that stand nowhere, in a claim that else says what one sentence does.

    They end it, or in Chinese they stand between two words that stand side by side in the sentence.
    """
    words = [word for clause in own for word in clause.words]
    if not words or len(words) > _WHOLE[own[0].latin]:
        return None
    text = own[0].text.rstrip()
    every = [clause for sentence in sentences for clause in sentence]
    lost = [
        n
        for n, word in enumerate(words)
        if word.key not in _BARE_VERBS and not any(clause.having(word) for clause in every)
    ]
    if not lost or not lost[0] or lost[-1] - lost[0] != len(lost) - 1:
        return None
    run, rest = words[lost[0] : lost[-1] + 1], words[: lost[0]] + words[lost[-1] + 1 :]
    ends, start, end = lost[-1] == len(words) - 1, run[0].start, run[-1].end
    if (
        ends != own[0].latin
        or len(rest) < _FEW
        or sum(word.weight for word in run) < _WEIGHTY
        or any(word.key[0].isdigit() or word.key in _HAN_LIGHT for word in run)
        or any(clause.between(name, start, end) for clause in own for name in _BOUNDS)
        or _HAN_LOOSE.fullmatch(text, start, end)
        or not (_BESIDES.search(text, rest[-1].end, start) if ends else end - start > 1)
    ):
        return None
    whole = _NEARLY * sum(word.weight for word in rest)
    for sentence in sentences:
        kept = sum(w.weight for w in rest if any(clause.having(w) for clause in sentence))
        if kept >= whole and (ends or _beside(words[lost[0] - 1], words[lost[-1] + 1], sentence)):
            return text[start:end]
    return None


def surplus(own: Sequence[Clause], sentences: Sequence[Sequence[Clause]]) -> str | None:
    """Words side by side that stand nowhere, in a claim that has all of a sentence besides.

    Where nothing of a sentence is left that they could say in another way, they add to it.
    """
    words = [word for clause in own for word in clause.words]
    every = [clause for sentence in sentences for clause in sentence]
    lost = [not any(clause.having(word) for clause in every) for word in words]
    runs: list[list[Word]] = []
    for at, word in enumerate(words):
        if lost[at]:
            runs = [*runs[:-1], [*runs[-1], word]] if at and lost[at - 1] else [*runs, [word]]
    run = max(runs, key=lambda run: sum(word.weight for word in run), default=[])
    heavy = sum(word.weight for word in run)
    rest = sum(w.weight for w, gone in zip(words, lost, strict=True) if not gone)
    text = own[0].text if own else ""
    if (
        len(run) < _CLAUSE
        or heavy < _SURPLUS[own[0].latin]
        or rest < heavy
        or any(w.key[0].isdigit() for w in run)
    ):
        return None
    before = max((word.end for word in words if word.end <= run[0].start), default=0)
    if not _LED.search(text, before, run[0].start) and not _LED.match(text, run[0].start):
        return None
    for part in (*sentences, *([clause] for clause in every)):
        said = [word for clause in part for word in clause.words]
        kept = sum(w.weight for w in words if any(clause.having(w) for clause in part))
        left = sum(w.weight for w in said if not any(clause.having(w) for clause in own))
        if kept >= _REST * rest and left <= _LEFT * heavy:
            return text[run[0].start : run[-1].end]
    return None


def _beside(one: Word, two: Word, sentence: Sequence[Clause]) -> bool:
    """Whether two Chinese words stand side by side."""
    there = [word for clause in sentence for word in clause.words]
    return any(
        (a.key, b.key) == (one.key, two.key) and b.start == a.end for a, b in pairwise(there)
    )


def _parts(own: Sequence[Clause]) -> Iterator[list[Word]]:
    """What follows each word that joins something to what was said before."""
    text = own[0].text if own else ""
    words = [word for clause in own for word in clause.words]
    stops = [mark.start for clause in own for mark in clause.marks if mark.name == "auxiliary"]
    cuts = [
        match.end()
        for match in _JOINT.finditer(text)
        if match[0].lower() not in _LISTED or "," in text[: match.start()]
    ]
    for at, cut in enumerate(cuts):
        until = min([*cuts[at + 1 :], *(stop for stop in stops if stop >= cut), len(text)])
        yield [word for word in words if cut <= word.start < until]
