"""Models on this machine: weights from a folder or the Hugging Face cache, never downloaded here.

torch, transformers and sentence-transformers come with `pip install '.[local]'`, and are imported
only once a model is loaded. A model runs on a thread of its own.
"""

from judge.backends.local.embedder import SentenceEmbedder as SentenceEmbedder
from judge.backends.local.scorer import TransformersScorer as TransformersScorer
