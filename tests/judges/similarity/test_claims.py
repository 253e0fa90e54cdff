from judge.judges.similarity.claims import claims
from judge.records import JudgeRequest, Sentence

ANSWER = "It rained [1]. 下雨了【2】。 It [a] froze [b]."
SPANS = ((0, 14), (15, 22), (23, 40))
REQUEST = JudgeRequest(
    query="",
    answer=ANSWER,
    sentences=tuple(
        Sentence(index=i, start=a, end=b, text=ANSWER[a:b]) for i, (a, b) in enumerate(SPANS)
    ),
    ask=(0, 1, 2),
    chunks=(),
    markers=((10, 13), (18, 21), (26, 29), (36, 39)),
)


def test_markers_are_overwritten_and_all_else_keeps_its_place() -> None:
    assert claims(REQUEST, (0, 1, 2)) == {
        0: "It rained    .",
        1: "下雨了   。",
        2: "It     froze    .",
    }


def test_only_the_sentences_named_are_told() -> None:
    assert claims(REQUEST, (1,)) == {1: "下雨了   。"}
    assert claims(REQUEST, ()) == {}
