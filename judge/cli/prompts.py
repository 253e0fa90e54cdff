"""`judge prompts`: list, verify and show the pinned prompts."""

import re
from typing import Final

import typer

from judge.cli.app import COMMANDS
from judge.cli.terminal import say
from judge.prompt import FAITHFULNESS, load_prompt, prompts_folder, verify_prompts, versions

app = typer.Typer(add_completion=False, no_args_is_help=True, help=COMMANDS["prompts"])

_REFERENCE: Final = re.compile(r"(?:(?P<name>\w+)-)?(?P<version>v\d+)(?:@[0-9a-f]*)?")
"""A prompt as signatures and `--prompt` name it: `faithfulness-v3@7a6ff2df` or `v3`."""


@app.command("list")
def list_() -> None:
    """List the released prompts by the references that signatures contain.

    Example: judge prompts list
    """
    names = (file.removesuffix(".toml").rpartition("/") for file in verify_prompts())
    say(*(load_prompt(name, version).reference for name, _, version in names))


@app.command()
def verify() -> None:
    """Check that every prompt is unchanged since its release; exit 2 if one is not.

    Example: judge prompts verify
    """
    count = len(verify_prompts())
    noun = "prompt has" if count == 1 else "prompts have"
    say(f"{count} {noun} the pinned bytes, in {prompts_folder()}")


@app.command()
def show(
    name: str = typer.Argument(
        metavar="NAME", help="Name and version, such as faithfulness-v3, faithfulness or v3."
    ),
) -> None:
    """Print a prompt as it is sent, with its placeholders.

    A version alone is one of the faithfulness prompt; a name alone is its newest version.

    Example: judge prompts show faithfulness-v1
    """
    version = None
    if found := _REFERENCE.fullmatch(name):
        name, version = found["name"] or FAITHFULNESS, found["version"]
    prompt = load_prompt(name, version or versions(name)[-1])
    say(
        f"{prompt.reference}  sha256 {prompt.sha256}",
        *(f"\n--- {title}\n{text}" for title, text in prompt.texts.items()),
    )
