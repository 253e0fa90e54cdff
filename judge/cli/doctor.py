"""`judge doctor`: whether a run can begin."""

from typing import TYPE_CHECKING, Final

import typer

from judge.cli.app import WRONG_USE, app
from judge.cli.options import language, takes_settings
from judge.cli.terminal import output
from judge.messages import Messages

if TYPE_CHECKING:
    from judge.config import Config

_MARKS: Final = {"passed": "✓", "failed": "✗", "skipped": "–"}


@app.command()
@takes_settings
def doctor(
    *,
    long_prompt: bool = typer.Option(
        True,
        "--long-prompt/--no-long-prompt",
        help="Send one prompt of --max-evidence-tokens, to see that it is read to its end [on].",
    ),
    lang: str = typer.Option("en", metavar="<en|zh>", help="Language of what is printed [en]."),
    settings: "Config",
) -> None:
    """Check all that a run needs: prompts, cache, disk, server, key, model, context length, clock.

    Takes the settings of judge score, and exits 2 if a check failed. A language model is sent some
    five requests, one of them long; nothing is kept of them.

    Example: judge doctor --model gpt-5-mini
    """
    # Heavy, and --help stays quick without them.
    import asyncio  # noqa: PLC0415

    from judge.doctor import Finding, examine  # noqa: PLC0415

    spoken_in = language(lang)
    texts = Messages.of("doctor")

    def told(finding: Finding) -> str:
        name = texts(f"name.{finding.name}", spoken_in)
        state = texts(f"state.{finding.state}", spoken_in)
        said = texts(f"said.{finding.text}", spoken_in, **finding.values)
        mark = _MARKS[finding.state]
        return texts("line", spoken_in, mark=mark, name=name, state=state, said=said)

    async def run() -> int:
        failed = 0
        with output(spoken_in) as page:
            async for finding in examine(settings, long=long_prompt):
                page.say(told(finding), hang=2)
                failed += finding.state == "failed"
            key = "passed" if not failed else "failed_one" if failed == 1 else "failed"
            page.say(texts(key, spoken_in, count=failed))
        return failed

    raise typer.Exit(WRONG_USE if asyncio.run(run()) else 0)
