"""The page of a run of 10 000 answers: its size, and how soon chromium shows and filters it.

python -m tests.bench.pages [ANSWERS]

The answers are made up, 8 sentences each over 5 chunks of 120 words, and a judge who draws lots
reads them: that the page is slow does not depend on what it says. Three rounds; the best is told.
Memory is the most that this process held while it wrote the page, beyond what it held before.
"""

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from judge import Config, Evaluator
from judge.jobs.job import Job
from judge.pages.report import report
from judge.records import (
    Evidence,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.bench.workload import Writer
from tests.browser import CHROMIUM, DESK, FLAGS

ANSWERS: Final = 10_000
ROUNDS: Final = 3


class Lots:
    """Judges by lot: most is supported, a little fails, and each verdict quotes a chunk."""

    signature = "llm:lots"

    def __init__(self) -> None:
        self._random = random.Random(0)  # noqa: S311  no secret is made of it

    async def judge(self, request: JudgeRequest) -> Judgment:
        return Judgment(outcomes={index: self._lot(request) for index in request.ask})

    def _lot(self, request: JudgeRequest) -> JudgeOutcome:
        drawn = self._random.random()
        if drawn < 0.01:
            return Unscored(reason=UnscoredReason.TIMEOUT)
        chunk = self._random.choice(request.chunks)
        quote = chunk.text.split(". ")[self._random.randrange(5)]
        labels = (Support.FULL, Support.PARTIAL, Support.NONE, Support.CONTRADICTED)
        return Verdict(
            support=self._random.choices(labels, (80, 8, 9, 3))[0],
            evidence=(Evidence(chunk_id=chunk.chunk_id, quote=quote),),
            supporting=(chunk.chunk_id,),
            reason="" if drawn < 0.8 else "the chunks say it in part only",
            source="llm",
            signature=self.signature,
        )


def samples(count: int) -> Iterator[str]:
    """Lines of a file of samples; one answer in a thousand names a zebra."""
    writer = Writer()
    for number in range(count):
        made = json.loads(writer.sample(number).model_dump_json(exclude_none=True))
        made["answer"] += " The zebra moved." if number % 1_000 == 0 else ""
        yield json.dumps(made | {"topic": f"topic {number % 7}"}) + "\n"


def most() -> float:
    """MB that this process held at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def timed(page: Page, act: Callable[[], object], shown: str) -> float:
    """Milliseconds until `#found` holds these words."""
    began = time.perf_counter()
    act()
    page.locator("#found", has_text=shown).wait_for()
    return 1e3 * (time.perf_counter() - began)


def look(page: Page, address: str, count: int) -> dict[str, float]:
    """Milliseconds to what a reader waits for, in one round."""
    page.goto("about:blank")
    first = timed(page, lambda: page.goto(address, wait_until="commit"), f"of {count}")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    support = page.locator("[data-kind=support]")
    label = next(each for each in support.inner_text().splitlines() if each.startswith("unscored"))
    having = label.split("(")[1].rstrip(")").replace(",", "")
    filtered = timed(page, lambda: support.select_option(label=label), f"{having} of")
    cleared = timed(page, lambda: page.click("button[type=reset]"), f"{count} of")
    zebras = len(range(0, count, 1_000))
    searched = timed(page, lambda: page.fill("#search", "zebra"), f"{zebras} of")
    again = timed(page, lambda: page.fill("#search", "zebra moved."), f"{zebras} of")
    began = time.perf_counter()
    page.locator(".answer .said").first.click()
    page.locator(".detail").wait_for()
    chosen = 1e3 * (time.perf_counter() - began)
    return {
        "first paint": paint,
        "first answers": first,
        "a filter's result": filtered,
        "all again": cleared,
        "first search": searched,
        "next search": again,
        "a sentence's chunk": chosen,
    }


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else ANSWERS
    with tempfile.TemporaryDirectory() as folder:
        source, run, file = (Path(folder, name) for name in ("in.jsonl", "run", "report.html"))
        with source.open("w", encoding="utf-8") as lines:
            lines.writelines(samples(count))
        Job(source, run, Config(), evaluator=Evaluator(judge=Lots())).run()
        before, began = most(), time.process_time()
        with file.open("w", encoding="utf-8") as pieces:
            pieces.writelines(report(run, "topic"))
        seconds, more = time.process_time() - began, most() - before
        print(f"{count:,} answers: written in {seconds:.1f} s of CPU, {more:.0f} MB more at most")
        print(
            f"samples {source.stat().st_size / 1e6:.1f} MB, page {file.stat().st_size / 1e6:.1f} MB"
        )
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            page = started.new_page(viewport={"width": DESK, "height": 900})
            rounds = [look(page, file.as_uri(), count) for _ in range(ROUNDS)]
            heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
            started.close()
        for name in rounds[0]:
            print(f"{name:<20} {min(each[name] for each in rounds):6.0f} ms")
        print(f"{'heap of the page':<20} {heap:6.0f} MB")


if __name__ == "__main__":
    main()
