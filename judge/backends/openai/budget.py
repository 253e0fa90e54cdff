"""The budget of a session: what may be spent, what is promised to questions under way, what is."""

from typing import Final

from judge.config import Config

_REPLY: Final = 300
"""Tokens that a reply is thought to take before one has come."""


class Budget:
    """Lets questions be asked until the next one might cost more than is left, and then no more.

    Of what is left over after that, short questions get nothing either: they are no fair sample.

    Args:
        config: its `max_tokens` and `max_cost`, and its prices.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._prompt = self._reply = 0
        """Tokens that were spent."""
        self._promised = self._asking = self._replies = 0
        self.over = ""
        """The option that ended it; empty while there is something left."""

    def begin(self, tokens: int) -> bool:
        """Set aside what a question of so many tokens may take; false where that is not there."""
        reply = -(-self._reply // self._replies) if self._replies else _REPLY
        prompt = self._prompt + self._promised + tokens
        replies = self._reply + (self._asking + 1) * reply
        config = self._config
        if config.max_tokens is not None and prompt + replies > config.max_tokens:
            self.over = self.over or f"--max-tokens {config.max_tokens}"
        cost = config.cost(prompt, replies)
        if config.max_cost is not None and cost is not None and cost > config.max_cost:
            self.over = self.over or f"--max-cost {config.max_cost:g}"
        if self.over:
            return False
        self._promised += tokens
        self._asking += 1
        return True

    def end(self, tokens: int, prompt: int = 0, reply: int = 0) -> None:
        """A question of so many tokens took these; none where it was not answered."""
        self._promised -= tokens
        self._asking -= 1
        self._prompt += prompt
        self._reply += reply
        self._replies += reply > 0
