import inspect
import subprocess
import sys

import judge
from judge import errors

PUBLIC = """
    Config Evaluator evaluate Run read_run read_samples summarize to_rows measure_overlap
    measure_retrieval measure_run RankRules recommend_measures exam review ConfigError InputError
    JudgeError JudgeUnavailable JudgeUnhealthy PromptMismatch RunError UsageError WorkerLost
    Embedder Judge
    ReviewHook
    Sample Chunk Rules Sentence SentenceKind Citation CitationStatus JudgeRequest Judgment
    Outcome Verdict Support Evidence Unscored UnscoredReason Excluded Flag FlagName
    SampleResult SentenceResult Status Correctness CorrectnessStatus Summary
    AnswerRelevance RelevanceStatus
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
