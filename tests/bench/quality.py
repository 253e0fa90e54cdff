"""Every quality figure of the offline judge and the splitter, beside its target.

    python tests/bench/quality.py [--only SET,SET] [--against REV | --no-baseline] [--json FILE]

Intervals are 95 %, by resampling groups 1 000 times (seed 0). A gain is paired: the judge of
another revision, by default that of the first model, scores the same sentences, and both are taken
of the same resamples. The data stand at ../shared/data; a set that is absent is named and skipped.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge.compose import offline
from judge.config import Config
from tests.bench import splitting
from tests.bench.baseline import scoring
from tests.bench.labelled import available
from tests.bench.parts import (
    SPEED,
    SPLITTER,
    TRAINED,
    Part,
    human_errors,
    labelled_sentences,
    single_chunks,
    speed,
    splitter,
    whole_answers,
)
from tests.bench.sheet import Sheet, Target

FIRST: Final = "b847440"
"""The last revision with the first model."""
SENTENCES: Final = (
    "ragtruth_qa_dev", "qags", "wice_test", "cnli_zh", *TRAINED, "attributionbench_dev",
)  # fmt: skip
TARGETS: Final = {
    ("ragtruth_qa_dev", "AUROC"): Target(least=0.87),
    ("ragtruth_qa_dev", "gain in AUROC"): Target(least=0, whole_interval=True),
    ("ragtruth_qa_dev", "ECE at declared prior"): Target(most=0.05),
    ("ragtruth_answers", "balanced accuracy"): Target(least=0.77),
    ("qags", "AUROC"): Target(least=0.82),
    ("wice_test", "AUROC"): Target(least=0.80),
    ("attributionbench_dev", "AUROC"): Target(least=0.90),
    ("cnli_zh", "AUROC"): Target(least=0.80),
    ("clapnq", "false alarms, sentences"): Target(most=0.15),
    ("bump", "gain in told apart, entities and circumstances"): Target(
        least=0, whole_interval=True
    ),
    (SPEED, "sentences a second, as it stands"): Target(least=2000),
    (SPLITTER, "F1, ewt_en_dev"): Target(least=0.90),
    (SPLITTER, "F1, gum_en_dev"): Target(least=0.96),
    (SPLITTER, "F1, gsd_zh_dev"): Target(least=0.99),
    (SPLITTER, "golden rules met"): Target(least=47),
}


def parts(only: Sequence[str], against: str | None) -> Iterator[Part]:
    """Those that are asked for and whose data are there, the others named."""
    makers: dict[str, tuple[str, Callable[[], Part]]] = {
        **{name: (name, partial(labelled_sentences, name)) for name in SENTENCES},
        "factcheckgpt_chunks": ("factcheckgpt", single_chunks),
        "ragtruth_answers": ("ragtruth_qa_dev", partial(whole_answers, "ragtruth_answers")),
        **{name: (name, partial(whole_answers, name)) for name in ("clapnq", "rgb_zh_en")},
        "bump": ("bump", human_errors),
        SPLITTER: ("", splitter),
        SPEED: ("", partial(speed, against)),
    }
    unknown = set(only) - set(makers)
    if unknown:
        raise SystemExit(f"no set {sorted(unknown)!r}; there are {', '.join(makers)}")
    for name, (file, make) in makers.items():
        if only and name not in only:
            continue
        there = splitting.DATA.is_dir() if name == SPLITTER else not file or available(file)
        if there:
            yield make()
        else:
            print(f"{name}: no data, skipped")


async def run(sheet: Sheet, todo: Sequence[Part], against: str | None) -> None:
    """Measure one part after the other, while another process scores for the other revision."""
    jobs = {part.name: part.requests for part in todo if part.requests}
    begun = time.perf_counter()
    other = scoring(against, jobs) if against and jobs else nullcontext()
    with other as work:
        for part in todo:
            told = f"{time.perf_counter() - begun:5.0f} s  {part.name}"
            print(told, file=sys.stderr, flush=True)
            old = work.replies(part.name) if work and part.requests else None
            sheet.begin(part.name, part.about)
            await part.show(sheet, old)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="sets to measure, with commas between them")
    parser.add_argument("--against", default=FIRST, help="the revision that gains are over")
    parser.add_argument("--no-baseline", action="store_true", help="measure no gains")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    options = parser.parse_args()
    against = None if options.no_baseline else options.against
    sheet = Sheet(TARGETS)
    begun = time.perf_counter()
    signature = offline(Config()).signature
    print(f"{signature}\ngains are over {against or 'nothing: --no-baseline'}")
    todo = list(parts([name for name in options.only.split(",") if name], against))
    asyncio.run(run(sheet, todo, against))
    sheet.verdict()
    print(f"took {time.perf_counter() - begun:.0f} s")
    if options.json:
        sheet.write(options.json, {"signature": signature, "against": against or ""})


if __name__ == "__main__":
    main()
