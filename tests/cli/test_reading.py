import codecs
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
from pydantic import JsonValue

from judge.advice.records import Use
from judge.cli.reading import Reading, reading
from judge.errors import ConfigError, InputError, RunError
from judge.messages import Lang
from tests.commands import Ran, judge, line, write


def samples(tmp_path: Path, rank: int, name: str = "in.jsonl") -> Path:
    """Sixty queries, the one relevant chunk of each at this rank of six."""
    ids = [f"c{i}" for i in range(1, 7)]
    lines: list[Mapping[str, JsonValue]] = [
        {"qid": f"q{i}", "query": "问", "retrieved": [*ids], "gold_evidence": [f"c{rank}"]}
        for i in range(60)
    ]
    return write(tmp_path / name, lines)


def refused(ran: Ran, *says: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    for said in says:
        assert said in ran.err
    assert ran.err.startswith("judge: ")
    assert ran.err.count("\n") == 1


def test_without_options_there_is_no_reading(tmp_path: Path) -> None:
    ran = judge("retrieval", samples(tmp_path, 1))
    assert ran.code == 0
    assert "rules of thumb" not in ran.out


def test_an_earlier_report_on_the_command_line(tmp_path: Path) -> None:
    earlier = tmp_path / "before.json"
    earlier.write_text(judge("retrieval", samples(tmp_path, 4), "--json").out, "utf-8")
    # From rank 4 to rank 1: nDCG 1/log2 5 = .431 to 1, and recall@20 is 1 both times.
    ran = judge("retrieval", samples(tmp_path, 1, "now.jsonl"), "--before", earlier, "--use", "faq")
    assert (ran.code, ran.err) == (0, "")
    assert "the reranker works" in ran.out
    assert "ndcg@10 rose from 0.431 to 1.000" in ran.out
    assert "for FAQ" in ran.out
    same = judge("retrieval", samples(tmp_path, 4), "--before", earlier, "--lang", "zh")
    assert "重排序有效" not in same.out
    assert "这些数字说明什么" in same.out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"schema": 1}',
        '{"qid": "q1"}\n{"qid": "q2"}',
        "[" * 5000,
    ],
)
def test_what_is_no_earlier_report_is_refused(tmp_path: Path, text: str) -> None:
    other = tmp_path / "other.json"
    other.write_text(text, "utf-8")
    ran = judge("retrieval", samples(tmp_path, 1), "--before", other)
    refused(ran, "other.json", "no earlier report", "--json")


def test_a_report_of_another_layout_is_refused(tmp_path: Path) -> None:
    found = json.loads(judge("retrieval", samples(tmp_path, 1), "--json").out)
    other = write(tmp_path / "other.json", [{**found, "schema": 2}])
    refused(judge("retrieval", samples(tmp_path, 1), "--before", other), "no earlier report")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    for content, says in ((b'{"a": "\xff"}', "no earlier report"), (b"\x00", "binary")):
        other.write_bytes(content)
        refused(judge("retrieval", samples(tmp_path, 1), "--before", other), "other.json", says)


def test_an_earlier_report_may_be_zipped_or_have_a_mark(tmp_path: Path) -> None:
    good = samples(tmp_path, 1)
    found = judge("retrieval", good, "--json").out.encode()
    earlier = tmp_path / "before.json"
    for content in (codecs.BOM_UTF8 + found, gzip.compress(found)):
        earlier.write_bytes(content)
        ran = judge("retrieval", good, "--before", earlier)
        assert (ran.code, ran.err) == (0, "")
    earlier.write_bytes(gzip.compress(found)[:-20])
    refused(judge("retrieval", good, "--before", earlier), "before.json", "gzip")


def test_an_earlier_report_without_ceilings_is_read(tmp_path: Path) -> None:
    good = samples(tmp_path, 1)
    found = json.loads(judge("retrieval", good, "--json").out)
    del found["ceiling"]
    earlier = write(tmp_path / "before.json", [found])
    assert judge("retrieval", good, "--before", earlier).code == 0


def test_standard_input_is_one_file(tmp_path: Path) -> None:
    one = "standard input is one file"
    refused(judge("retrieval", "-", "--before", "-"), "--before -", one)
    trec = tmp_path / "trec"
    refused(judge("retrieval", "--qrels", trec, "--run", "-", "--before", "-"), "--before -", one)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = judge("retrieval", samples(tmp_path, 1), "--before", tmp_path / "none.json")
    refused(ran, "none.json", "no such file")
    refused(judge("retrieval", samples(tmp_path, 1), "--before", tmp_path), "is a folder")


def test_bad_options_are_refused(tmp_path: Path) -> None:
    good = samples(tmp_path, 1)
    uses = "faq, documents, scholarly, knowledge_base, monitoring"
    refused(judge("retrieval", good, "--use", "news"), "--use 'news'", uses)
    refused(judge("retrieval", good, "--use", ""), "--use ''", uses)
    refused(judge("retrieval", good, "--use", "faq", "--lang", "fr"), "--lang 'fr'", "en, zh")
    refused(judge("retrieval", good, "--lang", "fr"), "--lang 'fr'")
    refused(judge("retrieval", good, "--lang", "zh"), "--lang", "--use, --before or --answers")
    refused(judge("retrieval", good, "--use", "faq", "--json"), "--use", "--json")


def test_the_help_names_every_use_and_language() -> None:
    text = "".join(judge("retrieval", "--help").out.split())
    assert "|".join(get_args(Use)) in text
    assert "|".join(get_args(Lang)) in text


def test_options_without_a_command() -> None:
    assert reading(None, None, None, None, samples=None, as_json=True) is None
    assert reading("faq", None, None, None, samples=None, as_json=False) == Reading(use="faq")
    with pytest.raises(ConfigError, match="--before and --json"):
        reading("faq", "before.json", None, None, samples=None, as_json=True)
    with pytest.raises(InputError, match="missing\\.json"):
        reading(None, "missing.json", None, None, samples=None, as_json=False)


Answered = tuple[str, str, str, tuple[str, ...] | None]
BESIDE: Answered = (
    "When does it open?",
    "Bring a passport and two photographs.",
    "At seven in the morning.",
    ("a",),
)
ASIDE: Answered = ("几点开门?", "请携带护照和两张照片。", "早上七点。", ("a",))
RIGHT: Answered = ("When does it open?", "It opens at seven.", "It opens at seven.", ("a",))
MISSED: Answered = ("When does it open?", "Bring two photographs.", "It opens at noon.", ("b",))


def scored(tmp_path: Path, *answers: Answered) -> tuple[Path, Path]:
    """The samples and the run: query, answer, reference, gold; one chunk, called a."""
    lines: list[dict[str, JsonValue]] = []
    for number, (query, answer, reference, gold) in enumerate(answers):
        chunks = {"a": "It opens at seven, from Monday to Friday."}
        made = line(f"q{number}", answer, chunks, query) | {"gold_answer": reference}
        lines.append(made if gold is None else made | {"gold_evidence": [*gold]})
    source, run = write(tmp_path / "answers.jsonl", lines), tmp_path / "run"
    assert judge("score", source, "-o", run, "--correctness").code == 0
    return source, run


def test_a_run_tells_whether_the_answers_use_what_was_found(tmp_path: Path) -> None:
    source, run = scored(tmp_path, BESIDE, ASIDE)
    ran = judge("retrieval", source, "--answers", run)
    assert (ran.code, ran.err) == (0, "")
    out = " ".join(ran.out.split())
    assert "where evidence was retrieved, too few answers keep to it" in out
    # Wilson's interval of 0 in 2.
    assert "faithful_of_retrieved 0.000 (0.000–0.658) is low: under 0.800" in out
    assert "correct_of_retrieved 0.000 (0.000–0.658) is low: under 0.700" in out
    assert "look for scattered evidence" in out
    assert "share of sentences that look supported" in out
    assert "another file" not in out
    chinese = judge("retrieval", source, "--answers", run, "--lang", "zh").out
    assert "依据证据作答的仍然太少" in "".join(chinese.split())


def test_answers_are_not_blamed_for_what_was_missed(tmp_path: Path) -> None:
    # Of five the four that saw the evidence are right: the means are low, generation is not.
    source, run = scored(tmp_path, RIGHT, RIGHT, RIGHT, RIGHT, MISSED)
    out = " ".join(judge("retrieval", source, "--answers", run).out.split())
    assert "where evidence was retrieved" not in out
    assert "the answers do not keep to it" not in out


def test_without_gold_the_means_are_held_beside_the_ranks(tmp_path: Path) -> None:
    _, run = scored(tmp_path, (*BESIDE[:3], None), (*ASIDE[:3], None))
    ran = judge("retrieval", samples(tmp_path, 1), "--answers", run)
    out = " ".join(ran.out.split())
    assert "the evidence is retrieved, and the answers do not keep to it" in out
    assert "faithfulness 0.000 (0.000–0.658) is low: under 0.800" in out
    assert "correctness_recall 0.000 (0.000–0.658) is low: under 0.700" in out


def test_a_run_of_another_file_is_said_to_be(tmp_path: Path) -> None:
    source, run = scored(tmp_path, BESIDE)
    asks = "are these the same questions?"
    other = " ".join(judge("retrieval", samples(tmp_path, 1), "--answers", run).out.split())
    assert asks in other
    assert "answers.jsonl" in other
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert judge("score", packed, "-o", tmp_path / "packed").code == 0
    same = judge("retrieval", packed, "--answers", tmp_path / "packed").out
    assert asks not in " ".join(same.split())


def test_what_is_no_finished_run_is_refused(tmp_path: Path) -> None:
    ran = judge("retrieval", samples(tmp_path, 1), "--answers", tmp_path / "none")
    refused(ran, "none", "no such run folder")
    refused(
        judge("retrieval", samples(tmp_path, 1), "--answers", scored(tmp_path, RIGHT)[1], "--json"),
        "--answers",
        "--json",
    )
    with pytest.raises(RunError):
        reading(None, None, tmp_path, None, samples=None, as_json=False)
