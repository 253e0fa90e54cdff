"""The SDK without its types, which are imported once one of them is used."""

import subprocess
import sys

PROGRAM = """
import sys
import judge.backends.openai.sdk
assert "openai.types.responses.response" not in sys.modules
import openai
from openai.types.responses import Response
assert openai.types.responses.Response is Response
assert issubclass(openai.types.Batch, openai.BaseModel)
"""

THREADS = """
import threading
import judge.backends.openai.sdk
import openai

failures, start = [], threading.Barrier(4)

def use(name):
    start.wait()
    try:
        getattr(openai.types, name)
        from openai.types.responses import Response
    except Exception as error:
        failures.append(error)

threads = [threading.Thread(target=use, args=(name,)) for name in ("Batch", "Model") * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
assert not hasattr(openai.types, "nothing")
"""


def test_types_are_imported_once_they_are_used() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_threads_may_use_the_types_at_the_same_time() -> None:
    subprocess.run([sys.executable, "-c", THREADS], check=True)
