"""Options: those of several commands, those that are settings, and choices of words."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer

from judge.cli.app import debug
from judge.config import load_config
from judge.errors import ConfigError
from judge.text.visible import clip

_Value = TypeVar("_Value", bound=str)
_SHOWN: Final = 60
_MOST_REVIEWERS: Final = 50


def _option(kind: Any, help_: str, metavar: str | None = None, *names: str) -> Any:  # noqa: ANN401  a type made at run time is a value
    return Annotated[kind | None, typer.Option(*names, metavar=metavar, help=help_)]


def _switch(name: str, help_: str) -> Any:  # noqa: ANN401  likewise
    # Both ways: whatever the file says, the command line can say otherwise.
    return _option(bool, help_, None, f"--{name}/--no-{name}")


RUN: Final = typer.Argument(metavar="RUN", help="Run folder.")
SAMPLES: Final = typer.Argument(
    metavar="SAMPLES",
    help="JSONL, JSON, CSV, Parquet, Arrow or XLSX; a folder or a pattern; - for stdin.",
)
JSON: Final = typer.Option(False, "--json", help="Print one JSON object instead of tables.")
MAX_LINE: Final = typer.Option(
    64.0, "--max-line", metavar="MB", min=0.000001, help="A longer line is a bad one."
)
SKIP_BAD: Final = typer.Option(False, "--skip-bad-lines", help="Tell of bad lines, and go on.")

# The defaults are those of `Config`: here None means "not given".
SETTINGS: Final = {
    "model": _option(str, "The judging model; also JUDGE_MODEL.", "NAME"),
    "base_url": _option(str, "OpenAI-compatible server; also OPENAI_BASE_URL.", "URL"),
    "endpoint": _option(str, "OpenAI's endpoint that is asked [chat].", "chat|responses"),
    "judge": _option(str, "Which judge [auto].", "auto|llm|nli|similarity"),
    "fallback": _switch("fallback", "Show the second judge's verdict where the model failed [on]."),
    "concurrency": _option(int, "Answers in flight at once, at most [64].", "N"),
    "rpm": _option(int, "Requests a minute at most, evenly spread.", "N"),
    "tpm": _option(int, "Tokens a minute at most, questions and replies.", "N"),
    "workers": _option(
        int, "Processes that compute [cores, at most 4; 1 below 200 answers or with a server].", "N"
    ),
    "prompt": _option(
        str, "Version of the faithfulness prompt; see judge prompts list [v2].", "VERSION"
    ),
    "repeat": _option(
        int,
        "Ask K times about partial, contradicted and unverified; the majority decides [1].",
        "K",
    ),
    "sentences_per_call": _option(int, "Sentences asked in one call [16].", "N"),
    "max_evidence_tokens": _option(
        int, "Tokens of chunks in one call; more are judged in windows [24000].", "N"
    ),
    "max_reply_tokens": _option(
        int,
        "Where a reply is cut, its limit for one more try [twice the first, 8192 at least].",
        "N",
    ),
    "reasoning_effort": _option(
        str, "How much a thinking model thinks, in its server's word.", "none|low|medium|high|…"
    ),
    "extra_body": _option(
        str, "More fields of each request, part of the signature: a JSON object.", "JSON"
    ),
    "headers": _option(
        str, "More headers, a JSON object; a secret belongs into JUDGE_HEADERS.", "JSON"
    ),
    "timeout": _option(float, "For one attempt at a call [120].", "SECONDS"),
    "deadline": _option(float, "For one answer, retries and all [600].", "SECONDS"),
    "patience": _option(
        float,
        "The run ends, and can be gone on with, where the server is gone so long; 0: never [120].",
        "SECONDS",
    ),
    "cache_dir": _option(Path, "Where verdicts are kept [~/.cache/judge].", "FOLDER"),
    "cache_url": _option(
        str, "Keep verdicts on a Redis server instead, for many machines.", "redis://HOST:6379/0"
    ),
    "cache_ttl": _option(int, "Seconds after which that server forgets a verdict.", "SECONDS"),
    "cache": _switch("cache", "Keep verdicts, and ask for none twice [on]."),
    "durable": _switch("durable", "Keep verdicts through a power cut, too; slower [off]."),
    "max_line": _option(float, "A longer line of samples is a bad one [64].", "MB"),
    "map": _option(
        list[str],
        "Where a row of samples has a field, such as answer=result.text or "
        "chunks=docs[].page_content; may be repeated [by what the rows look like].",
        "FIELD=PATH",
    ),
    "input_price": _option(float, "What a million tokens of questions cost.", "X"),
    "output_price": _option(float, "What a million tokens of replies cost.", "X"),
    "max_tokens": _option(int, "Tokens to spend at most; exit 4 where that ends it.", "N"),
    "max_cost": _option(float, "What to spend at most, by the prices; likewise.", "X"),
    "max_unscored": _option(
        float, "Share of unscored claims over which to exit 3 [0.05].", "SHARE"
    ),
    "require_quotes": _switch(
        "require-quotes", "Count support without a verified quote as unscored [off]."
    ),
    "correctness": _switch(
        "correctness", "Compare with gold_answer, too: one more call each way [off]."
    ),
    "relevance": _switch(
        "relevance", "Ask the model whether the query is answered, too: one more call [off]."
    ),
    "faithful_from": _option(
        float, "Table of cells: least faithfulness that counts as faithful [0.8].", "SHARE"
    ),
    "correct_from": _option(
        float,
        "Table of cells: least recall of the reference that counts as correct [0.8].",
        "SHARE",
    ),
    "gold_match": _option(
        str,
        "prefix: gold names documents. A chunk's id is then a document's id, then a character that "
        "is no letter or digit, or Chinese after other letters, or the other way round [exact].",
        "exact|prefix",
    ),
    "prior": _option(float, "Similarity: share of sentences thought supported [0.9].", "SHARE"),
    "embedding_model": _option(
        str, "Similarity: an embedding model of the server, or local:MODEL.", "NAME"
    ),
    "nli_model": _option(str, "An NLI model here: a folder, or its name on the hub.", "MODEL"),
    "review_rate": _option(float, "Share of answers a review hook is handed [0.02].", "SHARE"),
    "prose_citations": _switch(
        "prose-citations", 'Also read "passage 2", "文档2" as citations [off].'
    ),
    "citation_pattern": _option(
        str, "One more citation syntax: the marker alone, group 1 the id.", "REGEX"
    ),
}
_DEBUG: Final = typer.Option(
    "--debug", callback=debug, is_eager=True, help="Say more, and where an error arose."
)
CONFIG: Final = typer.Option(
    "--config", metavar="FILE", help="File of settings [judge.toml, where there is one]."
)
_BESIDE: Final = {
    "config": Annotated[Path | None, CONFIG],
    "debug": Annotated[bool, _DEBUG],
}


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; as `settings` it is handed the `Config` they make.

    An option of the command's own stands in the place of the setting of its name.
    """
    taken = signature(command).parameters
    names = [name for name in SETTINGS if name not in taken]

    @wraps(command)
    def run(**options: Any) -> None:  # noqa: ANN401  the settings check them
        given = {name: options.pop(name) for name in names}
        file = options.pop("config")
        del options["debug"]  # its callback has seen to it
        given = {name: value for name, value in given.items() if value not in (None, [])}
        command(**options, settings=load_config(given, file))

    own = [each for name, each in taken.items() if name != "settings"]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in ({name: SETTINGS[name] for name in names} | _BESIDE).items()
    ]
    del run.__annotations__["settings"]
    vars(run)["__signature__"] = signature(command).replace(parameters=[*own, *added])
    return run


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command take, in place of each `NamedTuple` among its parameters, that one's options.

    They stand where it stands, and what it is handed is the group filled in.
    """
    taken = signature(command).parameters.values()
    groups = {each.name: each.annotation for each in taken if hasattr(each.annotation, "_fields")}

    @wraps(command)
    def run(**options: Any) -> None:  # noqa: ANN401  typer has checked them
        made = {name: kind(*map(options.pop, kind._fields)) for name, kind in groups.items()}
        command(**options, **made)

    found = list[Parameter]()
    for each in taken:
        kind = groups.get(each.name)
        own = signature(kind).parameters.values() if kind else ()
        found += [part.replace(kind=each.kind) for part in own] if kind else [each]
    for name in groups:
        del run.__annotations__[name]
    vars(run)["__signature__"] = signature(command).replace(parameters=found)
    return run


def chosen(option: str, value: str, values: tuple[_Value, ...]) -> _Value:
    """The value, where it is one of these: what is wrong is one line of ours.

    Raises:
        ConfigError: it is none.

    >>> chosen("--flag", "b", ("a", "b"))
    'b'
    """
    for each in values:
        if each == value:
            return each
    raise ConfigError(f"{option} {clip(value, _SHOWN)!r}: give one of {', '.join(values)}")


def named_reviewers(given: str, overlap: int) -> list[str]:
    """The names that `--reviewers` gives: numbers for how many, an empty one for a single one.

    Raises:
        ConfigError: they are no such, or share rows with nobody.
    """
    names = [" ".join(name.split()) for name in given.replace("，", ",").split(",")]
    if len(names) == 1 and names[0].isdecimal():
        count = min(int(names[0][:9]), _MOST_REVIEWERS + 1)
        names = [str(number) for number in range(1, count + 1)]
    elif len(names) == 1 and not any(map(str.isalpha, given)):
        names = []
    different = {name.casefold() for name in names}
    if not all(names) or not 0 < len(different) == len(names) <= _MOST_REVIEWERS:
        raise ConfigError(
            f"--reviewers {given!r}: a number from 1 to {_MOST_REVIEWERS}, "
            "or different names with commas between them"
        )
    if overlap and len(names) == 1:
        raise ConfigError(f"--overlap {overlap}: one reviewer shares with none; see --reviewers")
    return [""] if names == ["1"] else names
