"""OpenAI-compatible servers: chat and embeddings over HTTP, every failure told apart."""

from judge.backends.openai.capabilities import Capabilities
from judge.backends.openai.connection import Connection
from judge.backends.openai.embedder import OpenAIEmbedder
from judge.backends.openai.model import OpenAIModel
from judge.backends.openai.policy import Policy
from judge.backends.openai.probe import settle

__all__ = ["Capabilities", "Connection", "OpenAIEmbedder", "OpenAIModel", "Policy", "settle"]
