"""Build a `JudgeRequest` from a few texts."""

from collections.abc import Mapping, Sequence

from judge.records import Chunk, JudgeRequest, Sentence, SentenceKind


def request(
    sentences: Sequence[str],
    chunks: Sequence[str] = (),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    ask: Sequence[int] | None = None,
    *,
    ids: Sequence[str] | None = None,
    kinds: Mapping[int, SentenceKind] | None = None,
    query: str = "",
    answer: str | None = None,
) -> JudgeRequest:
    """One sentence a text, end to end, all of them asked about; chunks are called c0, c1, …"""
    built: list[Sentence] = []
    for index, text in enumerate(sentences):
        start = built[-1].end if built else 0
        kind = (kinds or {}).get(index, SentenceKind.CLAIM)
        end = start + len(text)
        built.append(Sentence(index=index, start=start, end=end, text=text, kind=kind))
    names = ids or [f"c{position}" for position in range(len(chunks))]
    return JudgeRequest(
        query=query,
        answer="".join(sentences) if answer is None else answer,
        sentences=tuple(built),
        ask=tuple(range(len(built)) if ask is None else ask),
        chunks=tuple(
            Chunk(chunk_id=name, text=text) for name, text in zip(names, chunks, strict=False)
        ),
        cites=cites or {},
    )
