"""OpenAI-compatible servers: chat and embeddings over HTTP, every failure told apart."""

from judge.backends.openai.client import Connection, Policy
from judge.backends.openai.embedder import OpenAIEmbedder
from judge.backends.openai.model import Capabilities, OpenAIModel
from judge.backends.openai.probe import settle

__all__ = ["Capabilities", "Connection", "OpenAIEmbedder", "OpenAIModel", "Policy", "settle"]
