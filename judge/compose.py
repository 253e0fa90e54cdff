"""The one place that names concrete classes: settings in, a judge out."""

from importlib.metadata import version

from judge.backends.lexical import LexicalEmbedder
from judge.config import Config
from judge.judges.similarity import SimilarityJudge
from judge.protocols import Judge
from judge.steps.split import EDITION


def compose(config: Config) -> Judge:
    """The judge that `config` describes."""
    edition = f"split:{EDITION}|judge:{version('judge')}"
    return SimilarityJudge(LexicalEmbedder(), prior=config.prior, edition=edition)
