import pytest

from judge.cli.app import main
from judge.prompt import load_prompt


def said(*arguments: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["prompts", *arguments])
    out, err = capsys.readouterr()
    assert (stopped.value.code or 0) == code, err
    return out + err


NAMES = ("correctness", "faithfulness", "relevance")


def test_the_prompts_are_listed_as_signatures_name_them(capsys: pytest.CaptureFixture[str]) -> None:
    names = [load_prompt(name, "v1").reference for name in NAMES]
    assert said("list", capsys=capsys).splitlines() == names


def test_the_prompts_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("verify", capsys=capsys).startswith("3 prompts have the pinned bytes")


def test_a_prompt_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    prompt = load_prompt("faithfulness", "v1")
    for arguments in (("faithfulness",), ("faithfulness", "v1")):
        text = said("show", *arguments, capsys=capsys)
        assert prompt.reference in text
        for part in (prompt.system, prompt.user.template, prompt.again.template):
            assert part in text


def test_an_unknown_prompt_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("show", "faith", capsys=capsys, code=2).startswith("judge: no prompt is called")
    there = ", ".join(f"{name}/v1.toml" for name in NAMES)
    assert f"there are: {there}" in said("show", "faithfulness", "v9", capsys=capsys, code=2)
