"""Models of a few kilobytes whose weights are set by hand, saved as trained ones are.

torch and transformers are imported when one is made: the tests that use this skip without them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = ("the", "a", "b", "c", "d", "room", "is", "open", "shut", "word", ".", "。", "第", "室")
_HAN = ("开", "关", "门")
VOCABULARY = (*_MARKS, *_WORDS, *_HAN)
_WIDTH = 16
_LONGEST = 64
"""Tokens that a model takes."""
_LIKENESS = 30.0
"""The weight of a word beside the bias of a label."""


def _tokenizer(folder: Path) -> None:
    from transformers import BertTokenizerFast  # noqa: PLC0415

    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    tokenizer = BertTokenizerFast(vocab=vocabulary, model_max_length=_LONGEST)
    tokenizer.save_pretrained(folder)


def save_classifier(
    folder: Path,
    labels: Sequence[str],
    bias: Sequence[float] = (),
    words: Mapping[str, int] | None = None,
) -> Path:
    """A classifier of pairs whose logits are the biases, and more for a label by a word.

    Args:
        folder: made if need be.
        labels: by number.
        bias: one a label; zeros where left out.
        words: a word of the vocabulary that, in the premise alone, speaks for a label.
    """
    import torch  # noqa: PLC0415
    from transformers import BertConfig, BertForSequenceClassification  # noqa: PLC0415

    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=_WIDTH,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=_LONGEST,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = BertForSequenceClassification(config)
    same = torch.eye(_WIDTH)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "LayerNorm" not in name:
                weights.zero_()
        # Without queries and keys, attention is the mean of the words' values.
        layer = model.bert.encoder.layer[0].attention
        layer.self.value.weight.copy_(same)
        layer.output.dense.weight.copy_(same)
        model.bert.pooler.dense.weight.copy_(same)
        embeddings = model.bert.embeddings
        for word, label in (words or {}).items():
            embeddings.word_embeddings.weight[VOCABULARY.index(word), label] = 1.0
            model.classifier.weight[label, label] = _LIKENESS
        # This drowns out the words of the hypothesis.
        embeddings.token_type_embeddings.weight[1, _WIDTH - 1] = 1000.0
        if bias:
            model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
    _tokenizer(folder)
    return folder


def save_encoder(folder: Path) -> Path:
    """An encoder with random weights and no head, from which embeddings are means of words."""
    import torch  # noqa: PLC0415
    from transformers import BertConfig, BertModel  # noqa: PLC0415

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=_WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=_LONGEST,
    )
    BertModel(config).save_pretrained(folder)
    _tokenizer(folder)
    return folder
