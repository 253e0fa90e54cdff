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


def test_a_claim_has_blanks_for_its_markers_and_all_else_in_its_place() -> None:
    claims = [REQUEST.claim(index) for index in REQUEST.ask]
    assert claims == ["It rained    .", "下雨了   。", "It     froze    ."]
