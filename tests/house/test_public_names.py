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


def loaded_by(code: str, *words: object) -> str:
    """Return which of these packages a new process loads for this code."""
    packages = "{'pydantic', 'numpy', 'nltk', 'typer', 'rich', 'openai', 'aiohttp'}"
    code = f"import sys\n{code}\nprint(sorted({packages} & set(sys.modules)))"
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_importing_judge_loads_nothing_heavy() -> None:
    assert loaded_by("import judge") == "[]"


def test_a_run_without_a_model_loads_no_client_of_one(tmp_path: Path) -> None:
    samples = write(tmp_path / "in.jsonl", [line("q", "It opens at seven.")])
    code = (
        "import contextlib; from judge.cli.app import main\n"
        "with contextlib.suppress(SystemExit): main(sys.argv[1:])"
    )
    loaded = loaded_by(code, "score", samples, "-o", tmp_path / "run")
    assert "numpy" in loaded
    assert "openai" not in loaded
    assert "aiohttp" not in loaded
