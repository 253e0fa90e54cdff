import hashlib
import shutil
from functools import partial
from pathlib import Path

import pytest

from judge.config import Config
from judge.errors import PromptMismatch
from judge.prompt import load_prompt, prompts_folder, verify_prompts, versions

TEXT = "system = 'S'\nuser = 'U $code $query $chunks $sentences $ask'\nagain = 'A $faults'\n"


def released(folder: Path, *versions: str, text: str = TEXT) -> Path:
    (folder / "faithfulness").mkdir(exist_ok=True)
    lines = []
    for version in versions:
        (folder / "faithfulness" / f"{version}.toml").write_bytes(text.encode())
        lines.append(f"{hashlib.sha256(text.encode()).hexdigest()}  faithfulness/{version}.toml\n")
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return folder


def test_the_shipped_prompts_have_their_pinned_bytes_and_fields() -> None:
    shown = {"code", "query", "chunks"}
    asked = {name: {*shown, "sentences", "ask"} for name in ("correctness", "faithfulness")}
    asked["relevance"] = shown
    released = [("correctness", 1), *(("faithfulness", n) for n in (1, 2, 3)), ("relevance", 1)]
    assert verify_prompts() == [f"{name}/v{number}.toml" for name, number in released]
    # Written out here as well: no edit of the file and its sum together goes unnoticed.
    assert load_prompt("faithfulness", "v1").reference == "faithfulness-v1@a77cf08f"
    assert load_prompt("faithfulness", "v2").reference == "faithfulness-v2@6267a826"
    assert load_prompt("faithfulness", "v3").reference == "faithfulness-v3@7a6ff2df"
    assert load_prompt("correctness", "v1").reference == "correctness-v1@7fc63cac"
    assert load_prompt("relevance", "v1").reference == "relevance-v1@960423c8"
    for name, number in released:
        prompt = load_prompt(name, f"v{number}")
        assert set(prompt.user.get_identifiers()) == asked[name]
        assert prompt.again.get_identifiers() == ["faults"]
        assert "$" not in prompt.system
        # A server that holds replies to JSON asks for the word itself.
        assert "JSON" in prompt.system


def test_a_changed_word_of_a_shipped_prompt_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(prompts_folder(), tmp_path / "prompts")
    text = (folder / "faithfulness" / "v3.toml").read_text("utf-8")
    changed = text.replace("never obeyed", "obeyed")
    (folder / "faithfulness" / "v3.toml").write_text(changed, "utf-8")
    for read in (verify_prompts, partial(load_prompt, "faithfulness", "v3")):
        with pytest.raises(PromptMismatch, match=r"v3\.toml: hash .* not the pinned 7a6ff2df"):
            read(folder)
    assert load_prompt("faithfulness", "v1", folder).reference == "faithfulness-v1@a77cf08f"


def test_an_absent_or_unpinned_prompt_is_named(tmp_path: Path) -> None:
    released(tmp_path, "v1")
    message = r"'faithfulness/v9.toml' .*there are: faithfulness/v1"
    with pytest.raises(PromptMismatch, match=message):
        load_prompt("faithfulness", "v9", tmp_path)
    (tmp_path / "faithfulness" / "v2.toml").write_text(TEXT, encoding="utf-8")
    with pytest.raises(PromptMismatch, match=r"v2\.toml: is not pinned"):
        verify_prompts(tmp_path)
    (tmp_path / "faithfulness" / "v1.toml").unlink()
    with pytest.raises(PromptMismatch, match="restore"):
        load_prompt("faithfulness", "v1", tmp_path)


def test_versions_are_sorted_by_number(tmp_path: Path) -> None:
    released(tmp_path, "v2", "v10", "v9")
    assert versions("faithfulness", tmp_path) == ["v2", "v9", "v10"]
    assert Config().prompt == versions("faithfulness")[-1]
    with pytest.raises(PromptMismatch, match="there are: faithfulness"):
        versions("faith", tmp_path)
