"""Advice as a Markdown page, to be kept beside what was decided on."""

import re
from importlib.metadata import version
from typing import Final

from judge.advice.recommend.sections import command, sections, title
from judge.advice.recommend.table import table
from judge.advice.records import Advice
from judge.text.visible import flat

_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def page(advice: Advice, source: str) -> str:
    """The whole advice.

    Args:
        advice: what was found.
        source: a shell's word for the samples.
    """
    words = table().words
    made = words["made"].of(advice.lang, source=source, version=version("judge"))
    lines = [f"# {_plain(title(advice))}", "", _plain(made), ""]
    for section in sections(advice):
        lines += [f"## {_plain(section.title)}", ""]
        for item in section.items:
            said = _plain(item.said)
            lines.append(f"- **{_plain(item.name)}** {said}" if item.name else f"- {said}")
        lines.append("")
    if line := command(advice, source):
        lines += [
            f"## {_plain(words['measure'].of(advice.lang))}",
            "",
            "```bash",
            flat(line),
            "```",
            "",
        ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text in which Markdown sees no marks."""
    return _MARKS.sub(r"\\\1", flat(text))
