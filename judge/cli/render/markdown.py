"""A page in Markdown, for a pull request."""

import io
import re
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.terminal import Page
from judge.text.visible import clip, flat

_MAX_LINE: Final = 1_000
"""The maximum number of characters of a line; a comment on GitHub holds 65 536."""
_COLUMNS_PER_LEVEL: Final = 4
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>&|~$]")
_LIVE: Final = re.compile(
    r"(?<=:)(?=//)|(?<=[Ww]{3})(?=\.)|(?<=GH)(?=-\d)|(?<=@)(?=\w)|(?<=#)(?=\d)"
    r"|^(?=[-=#]|\+(?:\s|$)|\d+[.)](?:\s|$))"
)
"""The places where GitHub would see an address, a mention, an issue's number or a list."""
_ZERO_WIDTH_SPACE: Final = "\u200b"


class MarkdownPage(Page):
    """A page that keeps its lines as Markdown. Everything that prints on a page prints on it."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO(), width=_MAX_LINE))
        self._blocks: list[str] = []

    @property
    def markdown(self) -> str:
        """The whole page."""
        return "\n".join(self._blocks) + "\n"

    def say(self, text: Text | str, indent: int = 0, hang: int = 0, style: str = "") -> None:  # noqa: ARG002  nothing hangs here
        """Add a text: an indented one as an item of a list, a bold one as a heading."""
        bold = text.style == "bold" if isinstance(text, Text) else style.startswith("bold")
        plain = text.plain if isinstance(text, Text) else text
        depth = indent + len(plain) - len(plain.lstrip(" "))
        if depth or (isinstance(text, Text) and not bold):
            self._blocks.append(f"{' ' * 2 * (depth // _COLUMNS_PER_LEVEL)}- {literal(plain)}")
        else:
            self._paragraph(f"**{literal(plain)}**" if bold else literal(plain))

    def copied(self, text: str, style: str = "") -> None:  # noqa: ARG002  nothing has a colour here
        """Add a text that people copy."""
        self._paragraph(literal(text))

    def whole(self, line: Text) -> None:
        """Add a line."""
        self.say(line)

    def blank(self) -> None:
        """Add an empty line."""
        if self._blocks and self._blocks[-1]:
            self._blocks.append("")

    def table(self, table: Table) -> None:
        """Add a table, with its title above."""
        if table.title:
            self._paragraph(f"**{literal(str(table.title))}**")
        self.blank()
        heads = [literal(str(column.header)) for column in table.columns]
        lines = ["---:" if column.justify == "right" else "---" for column in table.columns]
        cells = zip(*([literal(str(cell)) for cell in c.cells] for c in table.columns), strict=True)
        self._blocks += [f"| {' | '.join(row)} |" for row in (heads, lines, *cells)]
        self.blank()

    def _paragraph(self, text: str) -> None:
        self.blank()
        self._blocks += [text, ""]


def literal(text: str) -> str:
    r"""Return a text as one line of Markdown without markup, links, pictures or mentions.

    >>> literal("<b>*a*</b> | see https://x @all #1")
    '\\<b\\>\\*a\\*\\</b\\> \\| see https:\u200b//x @\u200ball #\u200b1'
    """
    apart = _LIVE.sub(_ZERO_WIDTH_SPACE, clip(flat(text), _MAX_LINE))
    return _MARKUP.sub(r"\\\g<0>", apart)
