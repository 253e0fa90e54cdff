"""What a terminal is told, as Markdown for a pull request."""

import io
import re
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.terminal import Page
from judge.text.visible import clip, flat

_LONGEST: Final = 1_000
"""Characters of a line: a comment on GitHub holds 65 536 in all."""
_STEP: Final = 4
"""Columns by which a terminal sets a line in under another."""
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>&|~$]")
_LIVE: Final = re.compile(
    r"(?<=:)(?=//)|(?<=[Ww]{3})(?=\.)|(?<=GH)(?=-\d)|(?<=@)(?=\w)|(?<=#)(?=\d)"
    r"|^(?=[-=#]|\+(?:\s|$)|\d+[.)](?:\s|$))"
)
"""Where an address begins, of mail too, a name or number that GitHub would link, or a list."""
_UNSEEN: Final = "\u200b"


class MarkdownPage(Page):
    """A page whose lines are kept as Markdown: what prints on a page prints on this one, too."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO(), width=_LONGEST))
        self._blocks: list[str] = []

    @property
    def markdown(self) -> str:
        """All that was said."""
        return "\n".join(self._blocks) + "\n"

    def say(self, text: Text | str, indent: int = 0, hang: int = 0, style: str = "") -> None:  # noqa: ARG002  nothing hangs here
        """Say a text: what is set in becomes an item of a list, what is bold a heading."""
        bold = text.style == "bold" if isinstance(text, Text) else style.startswith("bold")
        plain = text.plain if isinstance(text, Text) else text
        depth = indent + len(plain) - len(plain.lstrip(" "))
        if depth or (isinstance(text, Text) and not bold):
            self._blocks.append(f"{' ' * 2 * (depth // _STEP)}- {literal(plain)}")
        else:
            self._paragraph(f"**{literal(plain)}**" if bold else literal(plain))

    def copied(self, text: str, style: str = "") -> None:  # noqa: ARG002  nothing has a colour here
        """Say what people copy."""
        self._paragraph(literal(text))

    def whole(self, line: Text) -> None:
        """Say a line."""
        self.say(line)

    def blank(self) -> None:
        """Leave a line free."""
        if self._blocks and self._blocks[-1]:
            self._blocks.append("")

    def table(self, table: Table) -> None:
        """Say a table, its title above it."""
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
    r"""A text as one line of Markdown that shows just that: no markup, link, picture or mention.

    >>> literal("<b>*a*</b> | see https://x @all #1")
    '\\<b\\>\\*a\\*\\</b\\> \\| see https:\u200b//x @\u200ball #\u200b1'
    """
    apart = _LIVE.sub(_UNSEEN, clip(flat(text), _LONGEST))
    return _MARKUP.sub(r"\\\g<0>", apart)
