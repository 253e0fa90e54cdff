from pathlib import Path

import pytest

from judge.backends.store.cache import cache_folder
from judge.compose import compose, offline
from judge.config import Config
from judge.errors import ConfigError
from judge.prompt import load_prompt
from judge.protocols import Judge
from judge.records import Verdict
from tests.requests import request
from tests.server import JudgeServer

TEXTS = ("The canteen opens at seven.", "食堂七点开门。")
REQUEST = request(TEXTS, ["The canteen opens at seven. 食堂七点开门。"], query="When?")
pytestmark = pytest.mark.usefixtures("place")


async def sources(judge: Judge) -> list[str]:
    """Return the source of each verdict."""
    outcomes = (await judge.judge(REQUEST)).outcomes
    found = (outcomes[0], outcomes[1])
    return [each.source for each in found if isinstance(each, Verdict)]


async def test_a_model_judges_with_similarity_as_fallback(server: JudgeServer) -> None:
    async with compose(server.config()) as judges:
        assert await sources(judges.faithfulness) == ["llm", "llm"]
        first, _, second = judges.faithfulness.signature.partition("|fallback:")
    assert first.startswith("llm:tiny@127.0.0.1:")
    assert second.startswith("similarity:lexical")
    assert (server.probes, server.calls) == (1, 1)
    # A server of one's own wants no key.
    assert server.requests[0].headers["Authorization"] == "Bearer none"


async def test_the_signature_names_all_settings_that_change_scores(
    server: JudgeServer,
) -> None:
    async def signature(**settings: object) -> str:
        async with compose(server.config(**settings)) as judges:
            return judges.faithfulness.signature

    usual = await signature()
    assert "|n:16|w:24000|" in usual
    same = {"concurrency": 1, "rpm": 5, "tpm": 9_000, "timeout": 5, "deadline": 5, "cache": True}
    assert await signature(**same) == usual
    others = {"model": "m", "prompt": "v1", "sentences_per_call": 2, "max_evidence_tokens": 900}
    assert len({usual, *[await signature(**{name: others[name]}) for name in others]}) == 5
    alone = offline(Config()).signature
    assert offline(Config(prior=0.5)).signature != alone
    unsigned = Config(concurrency=1, seed=9, max_unscored=0.5, review_rate=1)
    assert offline(unsigned).signature == alone


async def test_embeddings_of_the_server_judge_similarity(server: JudgeServer) -> None:
    config = Config(judge="similarity", embedding_model="e", base_url=server.base_url)
    async with compose(config) as judges:
        assert await sources(judges.faithfulness) == ["similarity"] * 2
        assert "embedding:e@127.0.0.1:" in judges.faithfulness.signature
    assert server.requests == []
    embedded = " ".join(text for texts in server.embedded for text in texts)
    assert "canteen" in embedded
    assert "食堂" in embedded


async def test_correctness_is_judged_if_it_is_set(server: JudgeServer) -> None:
    async with compose(server.config()) as judges:
        assert judges.correctness is None
    async with compose(server.config(correctness=True)) as (judge, comparing, relating, *_):
        assert comparing is not None
        assert relating is None
        await judge.judge(REQUEST)
        await comparing.judge(REQUEST)
        first, second = judge.signature, comparing.signature
    # The same model behind both, probed once a composition; another prompt, so that neither is
    # taken for the other in the cache, and similarity that knows the question behind it.
    assert (server.probes, server.calls) == (2, 2)
    newest = load_prompt("faithfulness", Config().prompt).reference
    head, _, tail = first.partition(f"|prompt:{newest}|")
    tail = tail.replace("|undecided:0.5", "|short:contained-v7")
    assert second == f"{head}|prompt:correctness-v1@7fc63cac|{tail}"
    systems = [request.messages[0][1] for request in server.requests[2:]]
    assert systems[0] != systems[1]


def test_the_folder_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder(Config()) == tmp_path / "caches" / "judge"
    assert cache_folder(Config(cache_dir=tmp_path / "x")) == tmp_path / "x"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder(Config(cache_dir=Path("~/x"))) == tmp_path / "home" / "x"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder(Config()) == tmp_path / "home" / ".cache" / "judge"
    with pytest.raises(ConfigError):
        cache_folder(Config(cache_dir=Path("~nobody-at-all/x")))
