"""How far an answer has the words of a reference: BLEU, ROUGE, exact match, token F1.

None of these sees whether an answer is true or supported: they count what two texts share.
"""

from judge.overlap.metrics.bleu import TOKENIZERS, Bleu, CorpusBleu, Language, bleu, sentence_bleu
from judge.overlap.metrics.language import language_of
from judge.overlap.metrics.matching import answer_tokens, exact_match, token_f1, token_prf
from judge.overlap.metrics.rouge import MOST_CELLS, MOST_TOKENS, Prf, Rouge, rouge, too_long
from judge.overlap.metrics.tokens import word_tokens
from judge.overlap.metrics.weighted import WEIGHT, rouge_w

__all__ = [
    "MOST_CELLS",
    "MOST_TOKENS",
    "TOKENIZERS",
    "WEIGHT",
    "Bleu",
    "CorpusBleu",
    "Language",
    "Prf",
    "Rouge",
    "answer_tokens",
    "bleu",
    "exact_match",
    "language_of",
    "rouge",
    "rouge_w",
    "sentence_bleu",
    "token_f1",
    "token_prf",
    "too_long",
    "word_tokens",
]
