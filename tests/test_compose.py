from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from judge.compose import OPENAI, address, cache_folder, compose, offline
from judge.config import Config
from judge.errors import ConfigError
from judge.records import Chunk, JudgeRequest, Sentence, Verdict
from tests import faults, replies, tiny
from tests.server import JudgeServer


def test_what_moves_a_number_is_in_the_signature_and_nothing_else() -> None:
    usual = offline(Config()).signature
    assert offline(Config(prior=0.5)).signature != usual
    others = Config(concurrency=1, seed=9, max_unscored=0.5, review_rate=1)
    assert offline(others).signature == usual


TEXTS = ("The canteen opens at seven.", "食堂七点开门。")
REQUEST = JudgeRequest(
    query="When?",
    answer="".join(TEXTS),
    sentences=tuple(Sentence(index=i, start=0, end=1, text=text) for i, text in enumerate(TEXTS)),
    ask=(0, 1),
    chunks=(Chunk(chunk_id="a", text="The canteen opens at seven. 食堂七点开门。"),),
)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "JUDGE_MODEL", "JUDGE_REVIEW_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def asking(server: JudgeServer, **settings: object) -> Config:
    plain = {"model": "tiny", "base_url": server.base_url, "attempts": 1}
    return Config.model_validate(plain | settings)


async def test_a_model_judges_and_similarity_stands_by(server: JudgeServer) -> None:
    async with compose(asking(server)) as judges:
        outcomes = (await judges.faithfulness.judge(REQUEST)).outcomes
        first, _, second = judges.faithfulness.signature.partition("|fallback:")
    assert first.startswith("llm:tiny@127.0.0.1:")
    assert second.startswith("similarity:lexical")
    verdicts = [outcomes[index] for index in (0, 1)]
    assert all(isinstance(v, Verdict) and v.source == "llm" for v in verdicts)
    assert (server.probes, server.calls) == (1, 1)


async def test_what_moves_a_models_verdict_is_in_its_signature(server: JudgeServer) -> None:
    async def signature(**settings: object) -> str:
        async with compose(asking(server, **settings)) as judges:
            return judges.faithfulness.signature

    usual = await signature()
    assert "|n:16|w:24000|" in usual
    for same in ({"concurrency": 1}, {"timeout": 5}, {"deadline": 5}, {"cache": False}):
        assert await signature(**same) == usual
    others = ({"model": "m"}, {"sentences_per_call": 2}, {"max_evidence_tokens": 900})
    assert len({usual, *[await signature(**other) for other in others]}) == 4


async def test_embeddings_of_the_server_judge_similarity(server: JudgeServer) -> None:
    config = Config(judge="similarity", embedding_model="e", base_url=server.base_url)
    async with compose(config) as judges:
        outcomes = (await judges.faithfulness.judge(REQUEST)).outcomes
        assert "embedding:e@127.0.0.1:" in judges.faithfulness.signature
    assert all(isinstance(outcomes[index], Verdict) for index in (0, 1))
    assert server.requests == []
    embedded = {text for texts in server.embedded for text in texts}
    assert any("canteen" in text for text in embedded)
    assert any("食堂" in text for text in embedded)


LABELS = ("contradiction", "neutral", "entailment")
"""The first speaks for itself by 门, the last by "open"."""


def tiny_classifier(folder: Path) -> str:
    pytest.importorskip("transformers", reason="needs the extra `local`: transformers and torch")
    words = {"门": 0, "open": 2}
    return str(tiny.save_classifier(folder / "tiny", LABELS, (0.0, 4.0, 0.0), words))


ROOMS = REQUEST.model_copy(update={"chunks": (Chunk(chunk_id="a", text="The room is open."),)})


async def test_an_nli_model_stands_by_a_language_model(tmp_path: Path) -> None:
    name = tiny_classifier(tmp_path)
    with JudgeServer(replies.calls(faults.CRASHED)) as server:
        async with compose(asking(server, nli_model=name)) as judges:
            shown = (await judges.faithfulness.judge(ROOMS)).outcomes[0]
            assert "|fallback:nli:tiny@" in judges.faithfulness.signature
        assert isinstance(shown, Verdict)
        assert (shown.source, shown.support) == ("nli", "full")
        assert shown.fallback_from is not None
        async with compose(asking(server, nli_model="./none", fallback=False)) as judges:
            assert "nli" not in judges.faithfulness.signature


async def test_embeddings_of_this_machine_judge_similarity(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra `local`")
    folder = tiny.save_encoder(tmp_path / "words")
    config = Config(embedding_model=f"local:{folder}")
    async with compose(config) as judges:
        outcomes = (await judges.faithfulness.judge(REQUEST)).outcomes
        assert judges.faithfulness.signature.startswith("similarity:embedding:words@")
    assert all(isinstance(outcomes[index], Verdict) for index in (0, 1))


@pytest.mark.skipif(find_spec("transformers") is not None, reason="the extra is installed")
@pytest.mark.parametrize("setting", ["nli_model", "embedding_model"])
async def test_without_the_extra_it_is_named(setting: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("")
    for name in ("owner/model", str(tmp_path)):
        value = name if setting == "nli_model" else f"local:{name}"
        with pytest.raises(ConfigError, match=r"needs more packages .*pip install '\.\[local\]'"):
            async with compose(Config.model_validate({setting: value})):
                raise AssertionError("not reached")


async def test_openai_wants_a_key() -> None:
    for config in (
        Config(model="m"),
        Config(embedding_model="e"),
        Config(model="m", base_url=OPENAI),
    ):
        with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
            async with compose(config):
                raise AssertionError("not reached")


async def test_a_server_of_ones_own_wants_none(server: JudgeServer) -> None:
    async with compose(asking(server)):
        pass
    assert server.requests[0].headers["Authorization"] == "Bearer none"


def test_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(Config()) == OPENAI
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert address(Config()) == "http://localhost:1/v1"
    assert address(Config(base_url="http://localhost:2")) == "http://localhost:2"


async def test_correctness_is_judged_where_it_is_asked_for(server: JudgeServer) -> None:
    async with compose(asking(server)) as judges:
        assert judges.correctness is None
    async with compose(asking(server, correctness=True)) as (judge, comparing):
        assert comparing is not None
        await judge.judge(REQUEST)
        await comparing.judge(REQUEST)
        first, second = judge.signature, comparing.signature
    # The same model behind both, probed once; another prompt, so that neither is taken for the
    # other in the cache, and similarity that knows the question behind it.
    assert (server.probes, server.calls) == (1, 2)
    head, _, tail = first.partition("|prompt:faithfulness-v1@a77cf08f|")
    assert second == f"{head}|prompt:correctness-v1@7fc63cac|{tail}|short:contained"
    systems = [request.messages[0][1] for request in server.requests[1:]]
    assert systems[0] != systems[1]


def test_where_verdicts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder(Config()) == tmp_path / "judge"
    assert cache_folder(Config(cache_dir=tmp_path / "x")) == tmp_path / "x"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder(Config(cache_dir=Path("~/x"))) == tmp_path / "home" / "x"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder(Config()) == tmp_path / "home" / ".cache" / "judge"


def test_a_home_that_there_is_not_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(ConfigError, match=r"~nobody-at-all/x.*--cache-dir"):
        cache_folder(Config(cache_dir=Path("~nobody-at-all/x")))
    monkeypatch.setenv("HOME", "")
    with pytest.raises(ConfigError, match=r"~/\.cache/judge.*--cache-dir"):
        cache_folder(Config())
    assert cache_folder(Config(cache_dir=tmp_path)) == tmp_path
