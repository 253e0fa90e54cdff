"""Models and embeddings of OpenAI-compatible servers."""

from judge.backends.openai.chat import Capabilities
from judge.backends.openai.client import Connection, Policy
from judge.backends.openai.limits import Budget, Pace
from judge.backends.openai.model import ChatModel, SeededModel, Send, counting, sender, settle
from judge.backends.openai.server import Server

__all__ = [
    "Budget",
    "Capabilities",
    "ChatModel",
    "Connection",
    "Pace",
    "Policy",
    "SeededModel",
    "Send",
    "Server",
    "counting",
    "sender",
    "settle",
]
