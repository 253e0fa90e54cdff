import inspect
import subprocess
import sys
from pathlib import Path

import judge
from judge import errors
from tests.commands import line, write

PUBLIC = """
    Config Evaluator evaluate Results Run read_run read_samples summarize to_rows measure_overlap
    measure_retrieval measure_run RankRules recommend_measures exam review ConfigError InputError
    JudgeError JudgeUnavailable JudgeUnhealthy PromptMismatch RunError UsageError WorkerLost
    Embedder Judge
    ReviewHook
    Sample Chunk Rules Sentence SentenceKind Citation CitationStatus JudgeRequest Judgment
    Outcome Verdict Support Evidence Unscored UnscoredReason Excluded Flag FlagName
    SampleResult SentenceResult Status Correctness CorrectnessStatus Summary
    AnswerRelevance RelevanceStatus ContextScores ContextStatus
"""
NAMES = PUBLIC.split()


def test_the_public_names() -> None:
    assert sorted(dir(judge)) == sorted(NAMES)
    namespace: dict[str, object] = {}
    exec("from judge import *", namespace)  # noqa: S102  a star import is for module level only
    assert sorted(set(namespace) - {"__builtins__"}) == sorted(NAMES)
    assert [name for name in NAMES if namespace[name] is None] == []
    assert not hasattr(judge, "no_such_name")


def test_every_error_is_public() -> None:
    kinds = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert kinds <= set(NAMES)


def test_importing_judge_loads_nothing_heavy() -> None:
    # A fresh process, for this one has long loaded everything.
    code = (
        "import sys, judge; heavy = {'pydantic', 'numpy', 'nltk', 'typer', 'rich', 'openai'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_without_a_model_loads_no_client_of_one(tmp_path: Path) -> None:
    samples = write(tmp_path / "in.jsonl", [line("q", "It opens at seven.")])
    code = (
        "import contextlib, sys; from judge.cli.app import main\n"
        "with contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
        "print(sorted({'openai', 'aiohttp'} & set(sys.modules)))"
    )
    words = (sys.executable, "-c", code, "score", str(samples), "-o", str(tmp_path / "run"))
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "run" / "summary.json").exists()
