"""What each command prints on the fixtures, held in `tests/golden/<command>.<language>.txt`.

A row of `SESSIONS` is a session in an empty folder that holds the fixtures: its commands run one
after the other, and the file keeps each command, its exit code, and what it wrote to standard
output and standard error. A command whose texts exist in two languages has `{lang}` in its line.

    pytest tests/cli/test_golden.py --update-golden

writes the files anew. Read their diff before you commit it.
"""

import re
import shlex
import shutil
from pathlib import Path
from typing import Final

import pytest

from judge.exam import first_items, read_items
from tests.batch_provider import BatchProvider
from tests.commands import Golden, judge
from tests.oracle import items_file
from tests.replies import mixed
from tests.review_runs import fill

ROOT: Final = Path(__file__).resolve().parents[2]
MODEL: Final = "--model tiny --base-url {server} --no-cache"
TWICE: Final = "--repeat 2 --relevance --details"
ONE: Final = "--concurrency 1 --input-price 2 --output-price 8"
BOTH: Final = "--correctness --relevance"
TREC: Final = "--qrels fixtures/trec.qrels --run"
SESSIONS: Final = {
    "score": (
        "score fixtures/quickstart.jsonl -o run --details --lang {lang}",
        "score fixtures/cells.jsonl -o cells --correctness --details --lang {lang}",
        f"score fixtures/quickstart.jsonl -o model --details --lang {{lang}} {MODEL}",
        f"score fixtures/quickstart.jsonl -o twice {TWICE} --lang {{lang}} {MODEL}",
        "show twice zh-warranty-number --lang {lang}",
        "score fixtures/quickstart.jsonl -o gate --lang {lang} --fail-under faithfulness=0.9",
        f"score fixtures/correctness.jsonl -o both {BOTH} --details --lang {{lang}} {MODEL}",
        "score fixtures/correctness.jsonl -o context --context --lang {lang}",
        f"score fixtures/correctness.jsonl -o triad --triad --details --lang {{lang}} {MODEL}",
        "show triad en-half-covered --lang {lang}",
        f"score fixtures/quickstart.jsonl -o spent --max-tokens 9000 --lang {{lang}} {MODEL} {ONE}",
        f"score fixtures/quickstart.jsonl --dry-run {MODEL}",
        "score fixtures/broken.jsonl -o broken",
        "score fixtures/broken.jsonl -o skipped --skip-bad-lines",
    ),
    "show": (
        f"! score fixtures/quickstart.jsonl -o model {MODEL}",
        "! score fixtures/quickstart.jsonl -o run",
        "show run --lang {lang}",
        "show run zh-warranty-number --lang {lang}",
        "show model en-leave-partial --lang {lang}",
        "show model --support unscored --lang {lang}",
        "show run --support none --lang {lang}",
        "show run --worst 3 --lang {lang}",
        "show run nobody --lang {lang}",
        "! score fixtures/cells.jsonl -o cells --correctness",
        "show cells --cell wrong,retrieved --lang {lang}",
        "show cells missed-abstained --lang {lang}",
        "show cells --cell sound --lang {lang}",
        f"! score fixtures/correctness.jsonl -o both {BOTH} {MODEL}",
        "show both en-half-covered --lang {lang}",
    ),
    "compare": (
        f"! score fixtures/quickstart.jsonl -o model {MODEL}",
        "! score fixtures/quickstart.jsonl -o run",
        "compare run model --across-signatures --lang {lang}",
        "compare run model run --across-signatures --scores coverage --by shows --lang {lang}",
    ),
    "review": (
        "! score fixtures/quickstart.jsonl -o run",
        "review draw run -n 12 -o sheet.csv --lang {lang}",
        "fill sheet.csv full",
        "review import run sheet.csv --lang {lang}",
        "review draw run -n 20 --reviewers Ann,李雷 --overlap 4 --lang {lang}",
        "review promote run -o golden.jsonl",
    ),
    "gold": (
        "gold draw fixtures/quickstart.jsonl -n 3 --reviewers Ann,李雷 --overlap 1 --lang {lang}",
        "fill gold-1.csv 3",
        "fill gold-2.csv 1",
        "gold import fixtures/quickstart.jsonl gold-1.csv gold-2.csv --lang {lang}",
    ),
    "retrieval": (
        "retrieval fixtures/retrieval.jsonl",
        f"retrieval {TREC} fixtures/trec.run",
        "retrieval fixtures/retrieval.jsonl -k 5 --worst 0 --use documents",
        "retrieval fixtures/cells.jsonl -k 1,20 --worst 2 --use faq",
        f"retrieval {TREC} a=fixtures/trec.run --run b=fixtures/trec.run -k 5",
    ),
    "overlap": ("overlap fixtures/overlap.jsonl",),
    "recommend": (
        "recommend fixtures/recommend_sparse.jsonl",
        "recommend fixtures/recommend_imbalanced.jsonl",
        "recommend fixtures/recommend_dense.jsonl --corpus-size 13 --depth 3",
    ),
    "exam": (
        "items few.jsonl number negation",
        "items fewer.jsonl negation",
        "exam --items few.jsonl -o exam.json",
        "exam --items fewer.jsonl --repeat 2 --against exam.json --fail-under kappa=0.2",
    ),
    "doctor": ("doctor", "doctor --model tiny --base-url {server}"),
    "cache": (
        "cache stats",
        "! score fixtures/quickstart.jsonl -o model --model tiny --base-url {server}",
        "cache stats",
        "cache clear --yes",
    ),
    "prompts": ("prompts list", "prompts verify"),
    "perturb": ("perturb fixtures/quickstart.jsonl -o variants.jsonl",),
    "batch": (
        "batch write fixtures/quickstart.jsonl -o batch --model tiny --no-probe",
        "batch write fixtures/cells.jsonl -o night --model tiny --base-url {server}",
        "batch send night",
        "batch read night",
        "batch write fixtures/quickstart.jsonl -o night --model tiny --base-url {server}",
    ),
}
ROWS: Final = [
    (name, lang)
    for name, commands in SESSIONS.items()
    for lang in (("en", "zh") if "{lang}" in "".join(commands) else ("en",))
]
MASKS: Final = (
    (re.compile(r"(?:similarity:lexical|llm:tiny)\S*\|judge:\S+"), "SIGNATURE"),
    (re.compile(r"\br[0-9a-f]{8}\b"), "DRAW"),
    (re.compile(r"\b\d+(?:\.\d+)? (?=[GM]B)"), "N "),
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d(?: UTC)?"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)? (?=s\b|seconds\b|秒)"), "N "),
)


@pytest.mark.no_cover
@pytest.mark.parametrize(("name", "lang"), ROWS)
def test_what_a_command_prints(
    name: str, lang: str, place: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A line that names a folder would break elsewhere on a machine whose folders have longer names.
    monkeypatch.setenv("COLUMNS", "200" if name in {"batch", "cache", "doctor"} else "80")
    shutil.copytree(ROOT / "fixtures", place / "fixtures")
    written = []
    with BatchProvider(mixed, mixed) as server:
        for line in SESSIONS[name]:
            hidden, command = line.startswith("! "), line.removeprefix("! ").replace("{lang}", lang)
            words = shlex.split(command.replace("{server}", server.base_url))
            if words[0] == "fill":
                fill(Path(words[1]), words[2])
                continue
            if words[0] == "items":
                items = first_items(read_items(), 1).items
                items_file(Path(words[1]), *(each for each in items if each.category in words[2:]))
                continue
            ran = judge(*words)
            if not hidden:
                shown = command.replace("{server}", "URL")
                written.append(f"$ judge {shown}\n{ran.out}{ran.err}exit {ran.code}\n")
        text = "\n".join(written).replace(server.base_url, "URL")
    text = text.replace(server.base_url.removeprefix("http://").removesuffix("/v1"), "HOST")
    text = text.replace(str(place), "FOLDER").replace(str(ROOT), "CHECKOUT")
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    golden.check(f"{name}.{lang}", text)
