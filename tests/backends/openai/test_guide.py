"""The commands of the guide to providers."""

import re
import shlex
from pathlib import Path

import judge.backends.openai as guided
from tests.commands import judge, line, write
from tests.server import JudgeServer

GUIDE = Path(guided.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_guide_work(place: Path) -> None:
    write(place / "samples.jsonl", [line(qid="one", answer="食堂早上七点开门。")])
    commands = [line for block in BLOCKS for line in block.splitlines()]
    assert commands
    for command in commands:
        with JudgeServer() as server:
            _, *words = shlex.split(re.sub(r"https://\S+", server.base_url, command))
            ran = judge(*words, "--base-url", server.base_url)
        assert ran.code == 0, ran
