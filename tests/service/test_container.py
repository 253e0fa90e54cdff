"""The container: each step of its Dockerfile runs in an empty root, and compose.yaml fits it.

A root has this machine's Python in place of the base image's, and the packages that the tests use
in place of the package index. Docker is not needed, but root is, to mount them.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from judge.config import load_config
from judge.service.requests import read_tokens
from tests.service_process import ROOT

pytestmark = pytest.mark.no_cover

FOLDER = ROOT / "judge" / "service"
INSTRUCTIONS = [
    line.partition(" ")[::2]
    for line in (FOLDER / "Dockerfile").read_text("utf-8").replace("\\\n", "").splitlines()
    if line and not line.startswith("#")
]
DOCKERFILE = dict(INSTRUCTIONS)
MOUNTING = ["/usr/bin/unshare", "--mount", "/bin/bash", "-euc"]
FUNCTIONS = r"""
root() { # make an empty root
    mkdir -p "$1"/{etc,tmp,usr,proc,dev,packages,"$python","$site"}
    echo root:x:0:0::/root:/bin/sh >"$1/etc/passwd"
    echo root:x:0: >"$1/etc/group"
    for folder in bin lib lib64 sbin; do ln -s "usr/$folder" "$1/$folder"; done
    for folder in /usr "$python" "$site"; do
        mount --bind "$folder" "$1/$folder"
        mount -o remount,bind,ro "$1/$folder"
    done
    mount --rbind /dev "$1/dev"
    mount --rbind /proc "$1/proc"
    for package in "$site"/*; do # all packages but this one
        case $package in *.pth | */rag_judge-*) ;; *) ln -s "$package" "$1/packages" ;; esac
    done
}
copy() { # copy a file, or what is in a folder, into a folder
    mkdir -p "$2"
    if [ -d "$1" ]; then cp -R "$1/." "$2"; else cp "$1" "$2"; fi
}
"""


def commands(place: Path) -> Iterator[str]:
    """Yield the commands of a shell that does what the Dockerfile says."""
    yield f"python={sys.base_prefix} site={Path(httpx.__file__).parents[1]}"
    yield FUNCTIONS
    stages: dict[str, Path] = {}
    root, folder, user = place, Path("/"), ""
    for number, (name, rest) in enumerate(INSTRUCTIONS):
        words = rest.split()
        if name == "FROM":
            root, folder = place / f"root{number}", Path("/")
            stages[words[-1]] = root
            yield f"root {root}"
        elif name == "WORKDIR":
            folder = Path(rest)
        elif name == "COPY":
            stage = words.pop(0).removeprefix("--from=") if "--from=" in rest else ""
            target = f"{root}{folder / words.pop()}"
            yield from (f"copy {stages.get(stage, ROOT)}/{word} {target}" for word in words)
        elif name == "RUN":
            yield f"chroot {root} sh -ec {shlex.quote(f'cd {folder}; {rest}')}"
        elif name == "ENV":
            yield f"export {rest}"
        elif name == "USER":
            user = rest
        elif name == "ENTRYPOINT":
            entry = shlex.join(json.loads(rest))
            yield f"exec chroot --userspec={user} {root} {entry} --port 0"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_each_step_runs_and_the_service_is_healthy_for_its_user(tmp_path: Path) -> None:
    path = f"{sys.base_prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "false", "PIP_NO_COMPILE": "1"}
    with subprocess.Popen(
        [*MOUNTING, "\n".join(commands(tmp_path))],
        env={
            "PATH": path,
            "PYTHONPATH": "/packages",
            "JUDGE_SERVICE_TOKENS": "ci:0123456789abcdef",
            **offline,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as service:
        assert service.stdout is not None
        printed = ""
        while (line := service.stdout.readline()) and "serving" not in line:
            printed += line
        assert line, printed
        threading.Thread(target=service.stdout.read, daemon=True).start()
        url = f"http://127.0.0.1:{json.loads(line)['url'].rpartition(':')[2]}"
        try:
            health = json.loads(DOCKERFILE["HEALTHCHECK"].partition("CMD ")[2])
            health[0], health[2] = sys.executable, health[2].replace("http://127.0.0.1:8080", url)
            assert subprocess.run(health, check=False).returncode == 0
            # It says whether the folder of the batches can be written.
            assert httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
            assert httpx.get(f"{url}/v1/batches", trust_env=False).status_code == 401
        finally:
            service.send_signal(signal.SIGTERM)
        assert service.wait() == 0
    data = next(tmp_path.glob(f"*{DOCKERFILE['VOLUME']}/batches"))
    assert data.stat().st_uid == int(DOCKERFILE["USER"]) != 0


def test_compose_fits_the_image_and_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    service = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]["judge"]
    build = service["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).samefile(FOLDER / "Dockerfile")
    assert service["volumes"] == [f"data:{DOCKERFILE['VOLUME']}"]
    assert service["ports"][0].endswith(f":{DOCKERFILE['EXPOSE']}")
    (shown,) = re.findall(
        "```ini\n# judge.env\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL
    )
    variables = dict(line.split("=", 1) for line in shown.splitlines())
    for name, value in (variables | service["environment"]).items():
        monkeypatch.setenv(name, value)
    assert load_config({}).asks_model
    assert read_tokens(variables["JUDGE_SERVICE_TOKENS"])
