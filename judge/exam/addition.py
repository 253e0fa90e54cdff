"""A labelled sentence of a run becomes an item of an exam of one's own."""

from pathlib import Path

from judge.errors import ConfigError, RunError
from judge.exam.items import OWN, Item, item_of, read_items
from judge.files.runs import made_from, origins
from judge.messages import language_of
from judge.review.folder import check_output, labelled_draws, write_whole
from judge.review.golden import Golden, agreed, golden_lines


def add(
    run: str | Path, qid: str, sentence: int, output: str | Path, *, category: str = OWN
) -> Item:
    """Append an item to a file, which is written whole or stays as it was.

    The item is the answer with the label of this one sentence, under a qid that bears its number:
    sentences of one answer may be hard for different reasons.

    Args:
        run: folder of a finished run with imported labels.
        qid: the answer.
        sentence: number of the sentence, from 1, as `judge show` has it.
        output: the items, JSONL; a new file where there is none.
        category: what makes it hard.

    Raises:
        RunError: the sentence has no label on which all reviewers agree, or is in the file already;
            the run is unfinished or its samples have changed; or the file cannot be written.
        InputError: the file is there and holds no items, or the metadata of the answer are not
            those of an item.
        ConfigError: the category is empty.
    """
    if not category.strip():
        raise ConfigError("--category is empty; name one, or leave it out")
    run, output = Path(run), Path(output)
    check_output(output, made_from(run), force=True)
    draws, stale = labelled_draws(run)
    place = f"{run}: sentence {sentence} of {qid!r}"
    cast = [
        label
        for _, labels in draws
        for label in labels
        if (label.qid, label.sentence) == (qid, sentence - 1)
    ]
    if not cast:
        earlier = f"; draws {', '.join(stale)} are of earlier results" if stale else ""
        raise RunError(f"{place} has no label{earlier}; judge label {run} brings one")
    sample, result = next(each for each in origins(run) if each[0].qid == qid)
    label = agreed(result.sentences[sentence - 1], cast, result.signature)
    if label is None:
        raise RunError(f"{place}: reviewers disagree about it; settle that, and import it again")
    named = {"category": category, "language": language_of(sample.answer)}
    update = {"qid": f"{qid}#{sentence}", "metadata": sample.metadata | named}
    item = item_of(Golden(sample.model_copy(update=update), (label,)), output)
    before = ""
    if output.exists():
        known = {each.sample.qid for each in read_items(output).items}
        if item.sample.qid in known:
            raise RunError(f"{output}: has {item.sample.qid!r} already; nothing was added")
        before = output.read_text("utf-8").rstrip("\n") + "\n"
    write_whole(output, [before, *golden_lines([Golden(item.sample, item.labels)])])
    return item
