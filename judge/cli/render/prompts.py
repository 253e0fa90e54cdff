"""What `judge prompts diff` found, printed."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from rich.text import Text

from judge.cli.terminal import Page
from judge.prompt import Prompt
from judge.text.fold import estimate_tokens

_WORD: Final = re.compile(r"\w+|\W")


def print_difference(one: Prompt, other: Prompt, page: Page) -> None:
    """Print each part of two prompts, line by line, and how long it is."""
    for part, before in one.texts.items():
        after = other.texts[part]
        for sign, prompt, text in (("---", one, before), ("+++", other, after)):
            tokens = f"about {estimate_tokens(text)} tokens"
            page.whole(Text(f"{sign} {prompt.reference} {part}, {tokens}", style="bold"))
        for line in _differences(before, after) if before != after else [Text("(the same)")]:
            page.whole(line)


def _differences(old: str, new: str) -> Iterator[Text]:
    """The lines of both, as of a unified diff with all that surrounds what differs."""
    lines = SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    before, after = _marked(old, new), _marked(new, old)
    for kind, start, end, first, last in lines.get_opcodes():
        if kind == "equal":
            yield from (Text(" ").append_text(line) for line in before[start:end])
            continue
        yield from (Text("-", "red").append_text(line) for line in before[start:end])
        yield from (Text("+", "green").append_text(line) for line in after[first:last])


def _marked(text: str, other: str) -> list[Text]:
    """The lines of a text; words that the other has not there are underlined."""
    marked, words = Text(text), [*_WORD.finditer(text)]
    both = SequenceMatcher(None, [each[0] for each in words], _WORD.findall(other), autojunk=False)
    for kind, start, end, _, _ in both.get_opcodes():
        if kind in {"replace", "delete"}:
            marked.stylize("underline", words[start].start(), words[end - 1].end())
    return [*marked.split("\n", allow_blank=True)]
