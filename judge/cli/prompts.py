"""`judge prompts`: the pinned words the judge is asked with."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

import typer
from rich.text import Text

from judge.cli.app import app
from judge.cli.terminal import output, say
from judge.prompt import (
    FAITHFULNESS,
    Prompt,
    load_prompt,
    prompts_folder,
    verify_prompts,
    versions,
)
from judge.text.fold import estimate_tokens

_WORD: Final = re.compile(r"\w+|\W")

prompts = typer.Typer(no_args_is_help=True, help="The pinned prompts: list, verify, show, diff.")
app.add_typer(prompts, name="prompts")


@prompts.command("list")
def list_() -> None:
    """List the released prompts, each with the reference that signatures bear.

    Example: judge prompts list
    """
    names = (file.removesuffix(".toml").rpartition("/") for file in verify_prompts())
    say(*(load_prompt(name, version).reference for name, _, version in names))


@prompts.command()
def verify() -> None:
    """Check that every prompt still has the bytes it was released with; exit 2 where not.

    Example: judge prompts verify
    """
    count = len(verify_prompts())
    noun = "prompt has" if count == 1 else "prompts have"
    say(f"{count} {noun} the pinned bytes, in {prompts_folder()}")


@prompts.command()
def show(
    name: str = typer.Argument(metavar="NAME", help="Such as faithfulness."),
    version: str | None = typer.Argument(
        None, metavar="[VERSION]", help="Such as v1 [the newest]."
    ),
) -> None:
    """Print a prompt as it is sent, its placeholders unfilled.

    Example: judge prompts show faithfulness v1
    """
    prompt = load_prompt(name, version or versions(name)[-1])
    say(
        f"{prompt.reference}  sha256 {prompt.sha256}",
        *(f"\n--- {title}\n{text}" for title, text in _parts(prompt).items()),
    )


@prompts.command()
def diff(
    name: str = typer.Argument(metavar="[NAME]", help="Such as relevance [faithfulness]."),
    old: str = typer.Argument(metavar="OLD", help="Such as v1."),
    new: str | None = typer.Argument(None, metavar="NEW", help="Such as v2."),
) -> None:
    """Print what one version says and another does not, line by line, and how long each is.

    Tokens are estimated. A terminal shows the words that differ underlined.

    Example: judge prompts diff v1 v2
    """
    if new is None:
        name, old, new = FAITHFULNESS, name, old
    one, other = load_prompt(name, old), load_prompt(name, new)
    with output() as page:
        for part, before in _parts(one).items():
            after = _parts(other)[part]
            for sign, prompt, text in (("---", one, before), ("+++", other, after)):
                tokens = f"about {estimate_tokens(text)} tokens"
                page.whole(Text(f"{sign} {prompt.reference} {part}, {tokens}", style="bold"))
            for line in _differences(before, after) if before != after else [Text("(the same)")]:
                page.whole(line)


def _parts(prompt: Prompt) -> dict[str, str]:
    user, again = prompt.user.template, prompt.again.template
    return {"system": prompt.system, "user": user, "again": again}


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
