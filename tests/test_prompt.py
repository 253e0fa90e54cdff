from pathlib import Path

from judge.prompt import prompts_folder


def test_the_prompts_lie_where_the_checkout_has_them() -> None:
    assert prompts_folder() == Path(__file__).resolve().parents[1] / "prompts"
    assert (prompts_folder() / "README.md").is_file()
