"""BLEU over a stream of answers, a language apart from the other."""

from typing import Final

from judge.overlap.metrics import TOKENIZERS, CorpusBleu, Language
from judge.overlap.records import LanguageBleu

LANGUAGE_NAMES: Final[dict[Language, str]] = {
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "unspaced": "Thai, Lao, Burmese, Khmer or Tibetan",
    "other": "spaced words (English …)",
}
"""What to call them where people read."""


class LanguageBleus:
    """Adds answers up by the language of their gold answers, in memory that does not grow.

    A gold answer without a letter (500) has none: it counts in the end with the language that most
    others have, or as `other` where no gold answer has a letter.
    """

    def __init__(self) -> None:
        self._corpora: dict[Language, CorpusBleu] = {}
        # Which it will be is known in the end: these are added up in every tokenizer.
        self._letterless: dict[str, CorpusBleu] = {}

    def add(self, answer: str, gold: str, language: Language | None) -> float:
        """Take in an answer.

        Returns:
            its own `sentence_bleu`; where no language is given, that of `other`.
        """
        if language is None:
            if not self._letterless:
                each = {tokenizer: language for language, tokenizer in TOKENIZERS.items()}
                self._letterless = {name: CorpusBleu(language) for name, language in each.items()}
            added = {name: held.add(answer, gold) for name, held in self._letterless.items()}
            return added[TOKENIZERS["other"]].score
        if language not in self._corpora:
            self._corpora[language] = CorpusBleu(language)
        return self._corpora[language].add(answer, gold).score

    def totals(self) -> tuple[LanguageBleu, ...]:
        """Corpus BLEU of each language, the most answers first."""
        corpora = {language: [corpus] for language, corpus in self._corpora.items()}
        if self._letterless:
            most = self._most()
            corpora.setdefault(most, []).append(self._letterless[TOKENIZERS[most]])
        found = [_total(language, parts) for language, parts in corpora.items()]
        return tuple(sorted(found, key=lambda item: (-item.answers, item.language)))

    def _most(self) -> Language:
        answers = {language: corpus.total().answers for language, corpus in self._corpora.items()}
        return min(answers, key=lambda language: (-answers[language], language), default="other")


def _total(language: Language, parts: list[CorpusBleu]) -> LanguageBleu:
    whole = CorpusBleu(language)
    for part in parts:
        whole.join(part)
    found = whole.total()
    return LanguageBleu(
        language=language,
        score=found.score,
        answers=found.answers,
        too_short=found.fourgrams == 0,
        signature=found.signature,
    )
