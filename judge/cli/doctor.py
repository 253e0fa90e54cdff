"""`judge doctor`: whether a run can begin."""

from typing import TYPE_CHECKING, Final

import typer

from judge.cli.app import WRONG_USE, app
from judge.cli.options import language, takes_settings
from judge.cli.terminal import output
from judge.messages import Messages

if TYPE_CHECKING:
    from judge.config import Config
    from judge.doctor import Recipe
    from judge.messages import Lang

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
    recipes: bool = typer.Option(
        False, "--recipes", help="Say what to set for each kind of server, and ask nobody."
    ),
    lang: str = typer.Option("en", metavar="<en|zh>", help="Language of what is printed [en]."),
    settings: "Config",
) -> None:
    """Check all that a run needs: prompts, cache, disk, server, key, model, context length, clock.

    Takes the settings of judge score, and exits 2 if a check failed. A language model is sent some
    five requests, one of them long; nothing is kept of them. A server that is known by its address
    has a recipe: what to set, and what it does not do.

    Example: judge doctor --model gpt-5-mini
    """
    # Heavy, and --help stays quick without them.
    import asyncio  # noqa: PLC0415

    from judge.doctor import Finding, examine, recipe_for  # noqa: PLC0415
    from judge.doctor import recipes as known  # noqa: PLC0415

    spoken_in = language(lang)
    texts = Messages.of("doctor")

    def told(finding: Finding) -> str:
        name = texts(f"name.{finding.name}", spoken_in)
        state = texts(f"state.{finding.state}", spoken_in)
        said = texts(f"said.{finding.text}", spoken_in, **finding.values)
        mark = _MARKS[finding.state]
        return texts("line", spoken_in, mark=mark, name=name, state=state, said=said)

    if recipes:
        with output(spoken_in) as page:
            for each in known():
                page.say(_advice(each, "recipe", spoken_in), hang=2)
                for key in ("try", "read"):
                    page.copied(_advice(each, key, spoken_in))
        return

    async def run() -> int:
        failed = 0
        with output(spoken_in) as page:
            if settings.asks_model and (recipe := recipe_for(settings)):
                page.say(_advice(recipe, "recipe", spoken_in), hang=2)
            async for finding in examine(settings, long=long_prompt):
                page.say(told(finding), hang=2)
                failed += finding.state == "failed"
            page.say(texts("failed" if failed else "passed", spoken_in, count=failed))
        return failed

    raise typer.Exit(WRONG_USE if asyncio.run(run()) else 0)


def _advice(recipe: "Recipe", key: str, lang: "Lang") -> str:
    told = {"set": recipe.set_[lang], "differs": recipe.differs[lang]}
    return Messages.of("doctor")(key, lang, **(dict(recipe) | told))
