"""Command-line options: one for each setting, those that several commands share, and their checks.

The option of a setting has the name, type, default and help of its field in `Config`.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, Optional, TypeVar, Union, get_args, get_origin

import typer

from judge.cli.app import debug
from judge.config import Config, load_config
from judge.errors import ConfigError
from judge.messages import LANGUAGE, Lang, use_language
from judge.reports.gate import Gates
from judge.text.visible import short

_Value = TypeVar("_Value", bound=str)

FILES: Final = "Input and output"
GATES: Final = "Gates"
LARGE_RUNS: Final = "Large runs"
PANELS: Final[dict[str, tuple[str, ...]]] = {
    FILES: ("map", "seed", "review_rate"),
    "Model": (
        *("model", "base_url", "endpoint", "judge", "prompt", "embedding_model", "nli_model"),
        *("reasoning_effort", "extra_body", "headers", "sentences_per_call"),
        *("max_evidence_tokens", "max_reply_tokens"),
    ),
    "Limits and cost": (
        *("concurrency", "rpm", "tpm", "timeout", "deadline", "attempts", "patience"),
        *("max_tokens", "max_cost", "input_price", "output_price"),
    ),
    "Cache": ("cache", "cache_dir", "cache_url", "cache_ttl", "durable"),
    "Judging": (
        *("triad", "relevance", "context", "correctness", "repeat", "fallback", "require_quotes"),
        "prior",
        *("prose_citations", "citation_pattern", "gold_match", "faithful_from", "correct_from"),
    ),
    GATES: ("max_unscored",),
    LARGE_RUNS: ("workers",),
}
"""The settings in each panel of the help."""
_METAVARS: Final = {"map": "FIELD=PATH", "extra_body": "JSON", "headers": "JSON"}

file_option = partial(typer.Option, rich_help_panel=FILES)
gate_option = partial(typer.Option, rich_help_panel=GATES)
engine_option = partial(typer.Option, rich_help_panel=LARGE_RUNS)


def check_value(context: typer.Context, value: str | Path | None) -> str | Path | None:
    """Return the value; raise BadParameter if it is an option, as in `--model -o run`."""
    options = {name for each in context.command.params for name in each.opts + each.secondary_opts}
    if value is not None and str(value) in options:
        raise typer.BadParameter(f"{value} is an option; give a value before it")
    return value


def check_name(context: typer.Context, value: str | None) -> str | Path | None:
    """Refuse an empty name, such as that of an unset variable, which would mean this folder."""
    if value == "":
        raise typer.BadParameter("is empty; name a path")
    return check_value(context, value)


RUN: Final = typer.Argument(metavar="RUN", help="The folder of a run.")
SAMPLES: Final = typer.Argument(
    metavar="SAMPLES",
    help="JSONL, JSON, CSV, Parquet, Arrow or XLSX: a file, folder or pattern; - for stdin.",
    callback=check_name,
)
ROWS: Final = typer.Option(
    None, "-o", "--output", metavar="FILE", help="Write a row for each sample: .jsonl or .csv."
)
JSON: Final = typer.Option(False, "--json", help="Print one JSON object instead of tables.")
SKIP_BAD: Final = typer.Option(False, "--skip-bad-lines", help="Leave bad lines out, and say so.")
FORCE: Final = typer.Option(False, "--force", help="Replace the file that -o names.")
CONFIG: Final = typer.Option(
    "--config", metavar="FILE", help="A file of settings. Without it, judge.toml if it exists."
)
_DEBUG: Final = typer.Option(
    "--debug", callback=debug, is_eager=True, help="Print more, and where an error arose."
)
_LANG: Final = typer.Option("--lang", help="The language of what is printed, by default en.")


def setting(name: str) -> Any:  # noqa: ANN401  the type is made at run time
    """Return the type of the option for a setting. A missing option has the value None."""
    field = Config.model_fields[name]
    kind = field.annotation
    if get_origin(kind) in {Union, UnionType}:
        kind, _ = get_args(kind)
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is dict:
        kind = list[str] if name == "map" else str
    text = str(field.description).replace("\n", " ")
    if field.default is not None:
        default = f"{field.default:g}" if kind is float else field.default
        default = ("off", "on")[field.default] if kind is bool else default
        text = f"{text} \\[default: {default}]"
    panel = next(panel for panel, names in PANELS.items() if name in names)
    check = check_value if kind in {str, Path} else None
    option = typer.Option(
        metavar=_METAVARS.get(name), help=text, rich_help_panel=panel, callback=check
    )
    return Annotated[Optional[kind], option]  # noqa: UP045  a type known at run time only


def takes_options(
    command: Callable[..., None], *, language: bool = False, without: Collection[str] = ()
) -> Callable[..., None]:
    """Expand the parameters of a command that stand for several options.

    A `settings: Config` takes an option for each setting that is neither an option of the command
    itself nor in `without`, and `--config` and `--debug`. A parameter whose type is a `NamedTuple`
    takes its fields. With `language`, the command has an option `--lang`, and runs in that
    language.
    """
    own = signature(command).parameters
    groups = {n: each.annotation for n, each in own.items() if hasattr(each.annotation, "_fields")}
    parameters = list[Parameter]()
    for name, each in own.items():
        if name in groups:
            fields = signature(groups[name]).parameters.values()
            parameters += [field.replace(kind=each.kind) for field in fields]
        elif name != "settings":
            parameters.append(each)
    omitted = {each.name for each in parameters}.union(without)
    settings = [name for names in PANELS.values() for name in names if name not in omitted]
    kinds: dict[str, Any] = {}
    if "settings" in own:
        kinds = {name: setting(name) for name in settings}
        kinds |= {"config": Annotated[Path | None, CONFIG], "debug": Annotated[bool, _DEBUG]}
    if language:
        kinds["lang"] = Annotated[Lang, _LANG]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in kinds.items()
    ]
    parameters.sort(key=_panel_of)

    @wraps(command)
    def run(**options: Any) -> None:  # noqa: ANN401  typer has checked them
        with use_language(options.pop("lang", None) or LANGUAGE.get()):
            if "settings" in own:
                values = {name: options.pop(name) for name in settings}
                values = {name: value for name, value in values.items() if value not in (None, [])}
                del options["debug"]
                options["settings"] = load_config(values, options.pop("config"))
            made = {name: kind(*map(options.pop, kind._fields)) for name, kind in groups.items()}
            command(**options, **made)

    vars(run)["__signature__"] = signature(command).replace(parameters=parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


takes_language = partial(takes_options, language=True)


def _panel_of(parameter: Parameter) -> tuple[bool, int]:
    """Return the sorting key by which arguments come first and panels in their order."""
    metadata = getattr(parameter.annotation, "__metadata__", (parameter.default,))
    panel = getattr(metadata[0], "rich_help_panel", None)
    order = list(PANELS).index(panel) if panel in PANELS else -1
    return parameter.kind is Parameter.KEYWORD_ONLY, order


def check_choice(option: str, value: str | None, values: Sequence[str]) -> None:
    """Raise ConfigError if an option is given and its value is not one of `values`."""
    if value is not None and value not in values:
        raise ConfigError(f"{option} {short(value)!r}: give one of {', '.join(values)}")


def several(option: str, text: str | None, values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    """Return the values that an option lists with commas between."""
    names = dict.fromkeys(() if text is None else split(text))
    for name in names:
        check_choice(option, name, values)
    return tuple(value for name in names for value in values if value == name)


def split(text: str) -> list[str]:
    """Return the parts between commas, Chinese ones too, without blanks around them."""
    return [part.strip() for part in text.replace("，", ",").split(",")]


class GateOptions(NamedTuple):
    """The bounds that figures are checked against."""

    fail_under: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if a figure is under X; may be repeated."
    )
    strict_gate: bool = typer.Option(
        False, "--strict-gate", help="Compare the lower limit of the 95 % interval."
    )

    def gates(self, names: Sequence[str]) -> Gates:
        """Return the gates on figures with these names; raise ConfigError if one is wrong."""
        return Gates.read({"least": self.fail_under or []}, strict=self.strict_gate, names=names)


class DrawOptions(NamedTuple):
    """How rows are drawn for people, and into which sheets."""

    seed: int = typer.Option(0, min=0, help="Seed of the draw.")
    reviewers: str = typer.Option(
        "", metavar="N|NAME,…", help="The reviewers, or how many; each gets a sheet of their own."
    )
    overlap: int = typer.Option(
        0, min=0, metavar="N", help="Sentences or queries that all reviewers get."
    )
    force: bool = typer.Option(False, "--force", help="Replace existing sheets.")

    @property
    def names(self) -> list[str]:
        """The names of the reviewers; one empty name if none is given."""
        names = [" ".join(name.split()) for name in split(self.reviewers)]
        if re.fullmatch("[1-9][0-9]?", self.reviewers):
            names = [str(number) for number in range(1, int(self.reviewers) + 1)]
        different = {name.casefold() for name in names}
        if len(different) < len(names) or (len(names) > 1 and not all(names)):
            raise ConfigError(
                f"--reviewers {self.reviewers!r}: give a number, or different names with commas "
                "between them"
            )
        if self.overlap and len(names) == 1:
            raise ConfigError(
                f"--overlap {self.overlap}: there is one reviewer; name more with --reviewers"
            )
        return names
