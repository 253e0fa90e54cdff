"""Trace one answer through `judge score`: files of ours it touches, steps to the written line.

python tests/bench/trace.py

Code that runs while a module is imported, such as the body of a class, does not count. A step is a
function of ours that a reader follows from `main`: one that is on the stack when
`evaluate_sample` or one of the functions that it calls is entered, or when the result is written.
"""

import contextlib
import io
import json
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2] / "judge"
SAMPLE: Final = {
    "qid": "1",
    "query": "How long is the notice?",
    "answer": "The notice is four weeks [1]. It is paid.",
    "chunks": ["The notice is four weeks."],
}
WRITTEN: Final = ("RunFolder.append",)
PIPELINE: Final = "evaluate_sample"


class Trace:
    """The functions of ours that one run calls."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        """Files of which a function ran."""
        self.imported: set[str] = set()
        """Files that were imported."""
        self.steps: dict[CodeType, None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(ROOT)):
            return
        if code.co_name == "<module>":
            self.imported.add(code.co_filename)
            return
        stack = []
        at: FrameType | None = frame
        while at is not None:
            if at.f_code.co_filename.startswith(str(ROOT)):
                if at.f_code.co_name == "<module>":
                    return
                if not at.f_code.co_name.startswith("<"):
                    stack.append(at.f_code)
            at = at.f_back
        self.files.add(code.co_filename)
        caller = frame.f_back.f_code.co_name if frame.f_back else ""
        if PIPELINE in (caller, code.co_name) or code.co_qualname in WRITTEN:
            self.steps |= dict.fromkeys(reversed(stack))


def main() -> None:
    """Score one answer by similarity, in this process, and print what it went through."""
    sys.path.insert(0, str(ROOT.parent))
    trace = Trace()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "one.jsonl"
        source.write_text(json.dumps(SAMPLE) + "\n", encoding="utf-8")
        sys.argv = ["judge", "score", str(source), "-o", str(Path(name) / "run")]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            threading.setprofile(trace)
            sys.setprofile(trace)
            from judge.cli.app import main as judge  # noqa: PLC0415  traced from its import on

            judge()
        sys.setprofile(None)
        threading.setprofile(None)
    for number, code in enumerate(trace.steps, 1):
        place = Path(code.co_filename).relative_to(ROOT)
        print(f"{number:3} {place}:{code.co_firstlineno} {code.co_qualname}")
    print(
        f"{len(trace.steps)} steps in {len({code.co_filename for code in trace.steps})} files; "
        f"functions of {len(trace.files)} files ran; {len(trace.imported)} were imported"
    )


if __name__ == "__main__":
    main()
