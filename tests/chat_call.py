"""A chat request, parsed by the format of the prompt."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import JsonValue

_CODE: Final = re.compile(r"^Code: ([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True)
class ChatCall:
    """One chat request. Its parts are parsed when they are used, because benchmarks use few."""

    number: int
    """The number of the call, from 0; probes are numbered separately."""
    raw: bytes
    headers: Mapping[str, str]

    @cached_property
    def body(self) -> dict[str, JsonValue]:
        read = json.loads(self.raw)
        assert isinstance(read, dict), "a chat request is a JSON object"
        return read

    @cached_property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text."""
        listed = self.body.get("messages") or self.body.get("input")
        assert isinstance(listed, list), "a chat request has messages"
        return [(str(m["role"]), str(m["content"])) for m in listed if isinstance(m, dict)]

    @cached_property
    def user(self) -> str:
        return next((text for role, text in reversed(self.messages) if role == "user"), "")

    @property
    def prompt_tokens(self) -> int:
        return tokens("".join(text for _, text in self.messages))

    @cached_property
    def _order(self) -> re.Match[str] | None:
        # Judged text may hold the same line: the real one follows the end of the answer.
        order = r"Judge (?:these sentences: (.*)|the parts of this question\.)"
        pattern = rf"^</answer {self._code}>\n{order}((?s:.*))\Z"
        return re.search(pattern, self.user, re.MULTILINE)

    @cached_property
    def _code(self) -> str:
        found = _CODE.search(self.user)
        return found[1] if found else "no code"

    @property
    def is_probe(self) -> bool:
        return self._order is None

    @property
    def again(self) -> bool:
        """Whether the request names faults of an earlier reply."""
        return self._order is not None and bool(self._order[2].strip())

    @property
    def ids(self) -> list[str]:
        return self._order[1].split(", ") if self._order and self._order[1] else []

    @property
    def is_about_question(self) -> bool:
        """Whether the request is about the relevance of the answer to its question."""
        return self._order is not None and self._order[1] is None

    @cached_property
    def question(self) -> str:
        fence = rf"^<question {self._code}>\n(.*)\n</question {self._code}>$"
        found = re.search(fence, self.user, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""

    @cached_property
    def answer(self) -> str:
        """The answer, if the request shows it as evidence."""
        return next((text for _, text in self._parts("answer", r"chunk \d+")), "")

    @cached_property
    def chunks(self) -> list[str]:
        return [text for _, text in self._parts("evidence", r"chunk \d+")]

    @cached_property
    def sentences(self) -> dict[str, str]:
        """The text of each sentence that has an id."""
        found = self._parts("answer", r"s\d+(?: cites [\d, ]+)?|context")
        return {tag.split(" ")[0]: text for tag, text in found if tag != "context"}

    @cached_property
    def cites(self) -> dict[str, list[int]]:
        """The 1-based numbers of the chunks that each sentence with an id cites."""
        found = self._parts("answer", r"s\d+(?: cites [\d, ]+)?")
        return {tag.split(" ")[0]: [int(n) for n in re.findall(r" (\d+)", tag)] for tag, _ in found}

    def _parts(self, block: str, tag: str) -> list[tuple[str, str]]:
        """Return the tags of a block without their code, each with its text."""
        code = self._code
        fence = rf"^<{block} {code}>\n(.*)\n</{block} {code}>$"
        found = re.search(fence, self.user, re.MULTILINE | re.DOTALL)
        parts = re.split(rf"^<((?:{tag})) {code}>\n", found[1], flags=re.MULTILINE) if found else []
        return [(parts[i], parts[i + 1].removesuffix("\n")) for i in range(1, len(parts), 2)]


def tokens(text: str) -> int:
    """Return the number of characters ÷ 4, rounded up."""
    return -(-len(text) // 4)
