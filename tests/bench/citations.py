"""How well citations are judged: caught and false alarms on both halves of the table.

Run `python -m tests.bench.citations`; `--errors` names rows of the learn half that go wrong. The
held half is measured, and none of its rows are named.
"""

import argparse

from tests.cited import results, rows, said, tally


def main() -> None:
    """Print a line for each half, judge and language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true")
    asked = parser.parse_args()
    found = list(results(rows()))
    for half in ("learn", "held"):
        for judge in ("similarity", "llm"):
            for lang in ("en", "zh"):
                these = [
                    each
                    for each in found
                    if (each[0].half, each[0].judge, each[0].id[:2]) == (half, judge, lang)
                ]
                of = tally(these)
                print(
                    f"{half:5}  {judge:10}  {lang}  caught {of.caught} of {of.wrong}, "
                    f"false alarms {of.alarms} of {of.right}"
                )
    if asked.errors:
        for row, result in found:
            if row.half == "learn" and said(result) != row.want:
                print(f"{row.id}: {said(result)}, wanted {row.want}")


if __name__ == "__main__":
    main()
