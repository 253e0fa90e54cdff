"""HTML pages from templates: one file each, without scripts, that needs no other."""

from functools import cache
from typing import TYPE_CHECKING, Final

from judge.text.visible import clip, flat

if TYPE_CHECKING:
    from jinja2 import Environment

_LONGEST: Final = 600
"""Characters of a text from outside that a page shows."""


def render(template: str, **values: object) -> str:
    """A page of `judge/pages/templates` as text, to be written as UTF-8.

    All that a template is given is escaped where it is shown: text becomes no markup. The filter
    `shown` puts text from outside on one line, fit to be read, and cuts it where it runs on; the
    filter `place` makes a share, 0 to 1, a place along a scale. jinja2.UndefinedError where the
    template shows a name that is not given.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  slow to load

    made = Environment(
        autoescape=True,
        loader=PackageLoader("judge.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["shown"] = lambda text: clip(flat(text), _LONGEST)
    made.filters["place"] = lambda share: f"{100 * share:.2f}%"
    return made
