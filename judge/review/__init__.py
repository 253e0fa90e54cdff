"""Spot-check by people: a sheet of drawn sentences, and the quality of the judge by their labels.

What `judge review` and `judge gold` do, as functions:

    draw(run, "review.csv", size=60)              # people fill in the sheet
    import_labels(run, ["review.csv"]).agreement  # how good the judge is
    promote(run, "golden.jsonl")                  # what people agree on
    draw_gold("samples.jsonl", "gold.csv")        # people grade chunks
    import_gold("gold.draw.json", ["gold.csv"], "gold.jsonl")  # a gold set for retrieval

Each returns records, and writes only the files it is told to and, in the run folder, what
`judge review` keeps there. They are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.review.draws import Drawn as Drawn
    from judge.review.draws import draw as draw
    from judge.review.golden import Golden as Golden
    from judge.review.golden import Promotion as Promotion
    from judge.review.golden import promote as promote
    from judge.review.golden import read_golden as read_golden
    from judge.review.grades import DrawnPool as DrawnPool
    from judge.review.grades import GoldReport as GoldReport
    from judge.review.grades import draw_gold as draw_gold
    from judge.review.grades import import_gold as import_gold
    from judge.review.hook import open_hook as open_hook
    from judge.review.labels import Imported as Imported
    from judge.review.labels import import_labels as import_labels
    from judge.review.worksheet import worksheets as worksheets

_NAMES = {
    "draws": ("Drawn", "draw"),
    "golden": ("Golden", "Promotion", "promote", "read_golden"),
    "grades": ("DrawnPool", "GoldReport", "draw_gold", "import_gold"),
    "hook": ("open_hook",),
    "labels": ("Imported", "import_labels"),
    "worksheet": ("worksheets",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker that saw `__getattr__` would let any name pass

    def __getattr__(name: str) -> object:
        """Load a name when it is first used: `import judge.review` alone stays light."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted(_HOMES)
