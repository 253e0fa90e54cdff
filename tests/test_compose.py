from importlib.metadata import version

import pytest

from judge.compose import offline
from judge.config import Config
from judge.errors import ConfigError
from judge.records import Chunk, JudgeRequest, Sentence, Verdict


def test_settings_without_a_model_give_the_similarity_judge() -> None:
    signature = offline(Config()).signature
    assert signature.startswith("similarity:")
    assert "|prior:0.9|" in signature
    assert signature.endswith(f"|judge:{version('judge')}")


def test_what_moves_a_number_is_in_the_signature_and_nothing_else() -> None:
    usual = offline(Config()).signature
    assert offline(Config(prior=0.5)).signature != usual
    assert offline(Config(concurrency=1, seed=9, max_unscored=0.5)).signature == usual


async def test_the_judge_judges_in_both_languages() -> None:
    texts = ("Hotels cost at most 120 euros.", "住宿标准为每晚六百元。")
    sentences = tuple(Sentence(index=i, start=0, end=1, text=text) for i, text in enumerate(texts))
    chunks = tuple(Chunk(chunk_id=text, text=text) for text in texts)
    request = JudgeRequest(query="", answer="", sentences=sentences, ask=(0, 1), chunks=chunks)
    outcomes = (await offline(Config()).judge(request)).outcomes
    assert outcomes.keys() == {0, 1}
    for index, text in enumerate(texts):
        verdict = outcomes[index]
        assert isinstance(verdict, Verdict)
        assert (verdict.support, verdict.source) == ("full", "similarity")
        assert verdict.evidence[0].chunk_id == text


@pytest.mark.parametrize("prior", [0, 1, -0.1, float("nan")])
def test_a_prior_that_is_no_share_is_refused(prior: float) -> None:
    with pytest.raises(ConfigError, match="prior"):
        offline(Config(prior=prior))
