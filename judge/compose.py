"""The one place that names concrete classes: settings in, a judge out."""

from judge.backends.lexical import LexicalEmbedder
from judge.config import Config
from judge.judges.similarity import SimilarityJudge
from judge.protocols import Judge


def compose(config: Config) -> Judge:
    """The judge that `config` describes."""
    return SimilarityJudge(LexicalEmbedder(), prior=config.prior)
