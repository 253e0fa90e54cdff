import asyncio
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from judge.judges.similarity import Block, aligned
from judge.judges.similarity.embedding import LexicalEmbedder
from judge.protocols import Embedder
from judge.records import Chunk, JudgeRequest, Sentence, Unscored, UnscoredReason


def asked(
    sentences: Sequence[str],
    chunks: Sequence[str],
    cites: Mapping[int, tuple[int, ...]] | None = None,
    deadline: float | None = None,
) -> JudgeRequest:
    starts = np.cumsum([0, *map(len, sentences)]).tolist()
    return JudgeRequest(
        query="",
        answer="".join(sentences),
        sentences=tuple(
            Sentence(index=i, start=starts[i], end=starts[i + 1], text=text)
            for i, text in enumerate(sentences)
        ),
        ask=tuple(range(len(sentences))),
        chunks=tuple(Chunk(chunk_id=f"c{i}", text=text) for i, text in enumerate(chunks)),
        cites=cites or {},
        deadline=deadline,
    )


async def blocks(
    request: JudgeRequest, embedder: Embedder | None = None, indexes: Sequence[int] | None = None
) -> list[Block | Unscored]:
    chosen = request.ask if indexes is None else indexes
    return [each async for each in aligned(request, chosen, embedder or LexicalEmbedder())]


async def only(
    request: JudgeRequest, embedder: Embedder | None = None, indexes: Sequence[int] | None = None
) -> Block:
    (block,) = await blocks(request, embedder, indexes)
    assert isinstance(block, Block)
    return block


FAILURE = Unscored(reason=UnscoredReason.CONNECTION, detail="no embedding server")


class Listed:
    """Gives the rows it was made with, (1, 0) for any other text; keeps what it was asked."""

    signature = "listed"

    def __init__(self, rows: Mapping[str, tuple[float, float]], calls: int = 1000) -> None:
        self.rows = rows
        self.calls = calls
        self.asked: list[tuple[list[str], float | None]] = []

    async def embed(
        self, texts: Sequence[str], deadline: float | None = None
    ) -> npt.NDArray[np.float32] | Unscored:
        self.asked.append((list(texts), deadline))
        if len(self.asked) > self.calls:
            return FAILURE
        rows = [self.rows.get(text, (1.0, 0.0)) for text in texts]
        return np.asarray(rows, np.float32).reshape(-1, 2)


async def test_blocks_hold_the_sentences_in_order_and_at_most_64() -> None:
    found = await blocks(asked(["Rain. ", "下雨。"] * 80, ["Rain.", "下雨。"]))
    sizes = [len(each.indexes) for each in found if isinstance(each, Block)]
    assert sizes == [64, 64, 32]
    indexes = [i for each in found if isinstance(each, Block) for i in each.indexes]
    assert indexes == list(range(160))


async def test_only_the_chosen_sentences_are_measured() -> None:
    block = await only(asked(["Rain.", "Snow.", "Hail."], ["Rain. Hail."]), indexes=[0, 2])
    assert block.indexes == (0, 2)
    assert [term.key for term in block.alignment.laid.rows] == ["rain", "hail"]
    assert await blocks(asked(["Rain."], ["Rain."]), indexes=[]) == []


async def test_each_segment_and_each_sentence_is_embedded_once() -> None:
    embedder = Listed({})
    await only(asked(["Rain. ", "下雨了。"], ["Rain fell. Snow!", "", "下雨。下雪。"]), embedder)
    assert [texts for texts, _ in embedder.asked] == [
        ["Rain fell.", "Snow!", "下雨。", "下雪。"],
        ["Rain. ", "下雨了。"],
    ]


async def test_the_cosine_is_to_the_nearest_segment_and_0_at_least() -> None:
    embedder = Listed({"Snow.": (0.6, 0.8), "Hail.": (0.0, 1.0), "Sun.": (-1.0, 0.0)})
    chunks = ["Hail. Snow.", "", "Sun.", "Hail."]
    block = await only(asked(["Rain."], chunks, {0: (2, 3)}), embedder)
    # The sentence is (1, 0). All chunks, the cited ones, then each.
    assert block.alignment.cosine[0] == pytest.approx([0.6, 0, 0.6, 0, 0, 0], abs=1e-6)


async def test_citations_choose_the_second_column() -> None:
    cites = {0: (1,), 1: (0, 1), 2: ()}
    block = await only(asked(["Rain."] * 4, ["Rain.", "Snow.", "Rain."], cites))
    held = block.alignment.held.within(slice(None))
    assert held[:, 1].tolist() == [False, True, False, False]
    assert held[:, 0].tolist() == [True] * 4


async def test_markers_and_list_numbers_are_no_claim() -> None:
    text = "1. Rain fell [2] (snow-7)."
    at = text.index("(")
    request = asked(["Hail. ", text], ["Rain fell."])
    request = request.model_copy(update={"markers": ((6 + at, 6 + len(text) - 1),)})
    embedder = Listed({})
    block = await only(request, embedder, indexes=[1])
    assert [term.key for term in block.alignment.laid.rows] == [
        "rain",
        "fell",
        "rain fell",
        "rain…fell",
    ]
    assert [texts[0].split() for texts, _ in embedder.asked[1:]] == [["Rain", "fell", "."]]


@pytest.mark.parametrize("chunks", [[""], ["", " \n"]])
async def test_blank_chunks_hold_nothing(chunks: list[str]) -> None:
    block = await only(asked(["Rain fell.", "***"], chunks))
    assert not block.alignment.held.within(slice(None)).any()
    assert not block.alignment.cosine.any()
    assert (block.alignment.windows == -1).all()


@pytest.mark.parametrize(("calls", "before"), [(0, 0), (1, 0), (2, 1), (3, 2)])
async def test_the_embedders_failure_comes_last(calls: int, before: int) -> None:
    # One call for the segments, then one for each 64 sentences.
    embedder = Listed({}, calls)
    found = await blocks(asked(["Rain."] * 200, ["Rain."], deadline=1e9), embedder)
    assert [isinstance(each, Block) for each in found] == [True] * before + [False]
    assert found[-1] == FAILURE
    assert {deadline for _, deadline in embedder.asked} == {1e9}


async def test_others_get_their_turn_between_blocks() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    found = await blocks(asked(["Rain."] * 640, ["Rain."]))
    task.cancel()
    assert len(found) == 10
    assert turns >= 10


async def test_a_sentence_measures_the_same_in_any_block() -> None:
    sentences = [f"Men saw {i} zebras in Hamburg. " for i in range(130)]
    chunks = ["Boys saw 63 zebras. They slept.", "In Hamburg 64 men saw 129 walruses."]
    found = [b for b in await blocks(asked(sentences, chunks)) if isinstance(b, Block)]
    for block, row, index in ((0, 0, 0), (0, 63, 63), (1, 0, 64), (2, 1, 129)):
        whole = found[block].alignment.measured(slice(None))
        single = (await only(asked(sentences, chunks), indexes=[index])).alignment
        alone = single.measured(slice(None))
        assert found[block].indexes[row] == index
        assert whole.terms[whole.owner == row] == pytest.approx(alone.terms)
        assert whole.sentences[row] == pytest.approx(alone.sentences[0], abs=1e-6)
        assert whole.grounded[row].tolist() == alone.grounded[0].tolist()
