"""Whole public data sets through the whole path, where they are there to be read."""

from pathlib import Path

import pytest

from judge import SampleResult, Verdict, evaluate, read_samples
from tests.bench import labelled


def data(name: str) -> Path:
    if not labelled.available(name):
        pytest.skip("no shared data beside this checkout")
    return labelled.FAITHFULNESS / f"{name}.jsonl"


def test_labelled_sentences_that_an_answer_lacks_word_by_word_have_offsets() -> None:
    data("factscore")  # where a quarter of the sentences has no offsets
    for row in labelled.rows("factscore"):
        asked, _ = labelled.request(row)
        texts = [asked.answer[each.start : each.end] for each in asked.sentences]
        assert texts == [each.text for each in asked.sentences]


def check(answer: str, result: SampleResult) -> None:
    covered = [False] * len(answer)
    for sentence, after in zip(result.sentences, [*result.sentences[1:], None], strict=True):
        assert answer[sentence.start : sentence.end] == sentence.text == sentence.text.strip()
        assert after is None or sentence.end <= after.start
        covered[sentence.start : sentence.end] = [True] * (sentence.end - sentence.start)
    assert all(seen or character.isspace() for seen, character in zip(covered, answer, strict=True))
    for citation in result.citations:
        assert answer[citation.start : citation.end] == citation.marker


# Every third of hundreds: a second or two, and nothing smaller would be the real thing.
@pytest.mark.parametrize(("name", "count"), [("ragtruth_qa_dev", 131), ("rgb_zh_en", 196)])
def test_every_answer_is_a_result_and_every_offset_holds(name: str, count: int) -> None:
    samples = list(read_samples(data(name)))[::3]
    results = evaluate(samples)
    assert [r.qid for r in results] == [s.qid for s in samples]
    assert len(results) == count
    for sample, result in zip(samples, results, strict=True):
        check(sample.answer, result)
        texts = {chunk.chunk_id: chunk.text for chunk in sample.chunks}
        for sentence in result.sentences:
            if isinstance(sentence.outcome, Verdict):
                for evidence in sentence.outcome.evidence:
                    assert evidence.verified
                    assert texts[evidence.chunk_id][evidence.start : evidence.end] == evidence.quote
