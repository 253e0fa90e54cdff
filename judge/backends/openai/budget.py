"""The budget of a run: tokens spent, and tokens reserved for requests in flight."""

from typing import Final

from judge.config import Config

_REPLY: Final = 300
"""Estimated tokens of a reply before the first one has arrived."""


class Budget:
    """Allows requests until the next one might exceed the budget, and none after that.

    Shorter requests that would still fit are refused too: they would be a biased sample.

    Args:
        config: its `max_tokens` and `max_cost`, and its prices.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._prompt = self._reply = 0
        """Tokens spent."""
        self._promised = self._asking = self._replies = 0
        self.over = ""
        """The option whose limit was reached; empty before that."""

    def begin(self, tokens: int) -> bool:
        """Reserve a request of `tokens` and its reply; return whether the budget allows it."""
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
        """Release a reservation and count the tokens used; both are 0 if no reply came."""
        self._promised -= tokens
        self._asking -= 1
        self._prompt += prompt
        self._reply += reply
        self._replies += reply > 0
