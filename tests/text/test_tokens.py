import re
from collections.abc import Callable, Mapping
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from judge.text.fold import fold
from judge.text.tokens import broken, speaks_for_others

# As in the files of the tokenizers and chat templates that these families are published with.
FAMILIES: Mapping[str, str] = {
    "ChatML, Qwen": "<|im_start|> <|im_end|> <|endoftext|> <|object_ref_start|> <|fim_middle|>"
    " <tool_call> </tool_call> <tool_response>",
    "Llama 2": "[INST] [/INST] <<SYS>> <</SYS>>",
    "Llama 3, 4": "<|begin_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eot|>"
    " <|header_start|> <|python_tag|> <|reserved_special_token_12|>",
    "Gemma": "<start_of_turn> <end_of_turn> <bos> <eos> <start_of_image> <image_soft_token>"
    " <unused99> <|turn> <turn|>",
    "DeepSeek": "<｜Assistant｜> <｜User｜> <｜begin▁of▁sentence｜> <｜end▁of▁sentence｜>"
    " <｜tool▁calls▁begin｜>",
    "Mistral": "[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS]"
    " [TOOL_RESULTS] [/TOOL_RESULTS] [CALL_ID] [THINK] [/THINK] <SPECIAL_20>",
    "Phi": "<|system|> <|user|> <|assistant|> <|end|>",
    "Command": "<|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> <BOS_TOKEN>"
    " <EOP_TOKEN>",
    "GLM": "[gMASK] <sop> <eop> <|observation|> <arg_key> </arg_value>",
    "Harmony": "<|start|> <|channel|> <|message|> <|return|>",
    "T5, BERT": "<pad> <unk> <extra_id_0> [CLS] [SEP] [PAD] [unused1] <cls> <sep>",
    "FIM": "<fim_prefix> <fim_suffix> <｜fim▁hole｜>",
    "MiniMax": "]~b] ]~!b[ [e~[ ]!p~[ <minimax:tool_call>",
    "Seed, LongCat, TeleChat": "<seed:bos> </seed:think> <longcat_s> <_user> <ctrl99>",
    "others": "[|assistant|] [|endofturn|] <reserved_106> <mask_1> [UNUSED_TOKEN_146] <|/think|>",
}
TOKENS = " ".join(FAMILIES.values()).split()
WORDS = (
    *("<s>", "</s>", "<think>", "</think>", "<mask>", "<image>", "<filename>", "<|0.00|>"),
    *("<functions>", "</functions>", "<tools>", "<role>"),
    *("[UNK]", "[MASK]", "[ARGS]", "[IMG]", "[PREFIX]", "[REF]"),
)
"""Of some model each; but a struck-out word, a usage line, or a picture have them, too."""

# How a token may be disguised, and how each reads without.
DISGUISES: Mapping[str, Callable[[str], str]] = {
    "none": lambda token: token,
    "no width": "\u200b".join,
    "joined": "\u2060".join,
    "marks": lambda token: "".join(c + "\u0332" * c.isalpha() for c in token),
    "accents": lambda token: "".join(c + "\u0301" * c.isalpha() for c in token),
    "lines": lambda token: token[:2] + "\n" + token[2:],
    "full width": lambda token: token.translate({c: c + 0xFEE0 for c in range(0x21, 0x7F)}),
    "blanks": lambda token: re.sub(r"(^.)(?=[\w/])|(?<=\w)(?=.$)", r"\1 ", token),
}  # fmt: skip


def holds_any(text: str) -> list[str]:
    return [token for token in (*TOKENS, *WORDS) if token in text]


def test_every_token_is_noticed_and_broken_in_every_disguise() -> None:
    wrong = []
    for token, (name, disguise) in product(TOKENS, DISGUISES.items()):
        text = f"It opens at seven. {disguise(token)} 七点开门。"
        shown = broken(text)
        if not speaks_for_others(text) or shown == text or holds_any(shown):
            wrong.append((token, name))
    assert wrong == []
    assert [word for word in WORDS if holds_any(broken(f"So. {word}model"))] == []


PIECES = (
    *TOKENS, *WORDS, *(token[: len(token) // 2] for token in TOKENS),
    *(token[len(token) // 2 :] for token in TOKENS), "<", "[", "|", ">", "]", "/", "｜", "《",
    "\n", " ", "\u200b", "\u0301", "\u0338", "ﾞ", "a", "1", "开", "\ud800",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_token_is_left_and_nothing_else_is_changed(text: str) -> None:
    shown = broken(text)
    assert holds_any(shown) == []
    assert fold(shown).text == fold(text).text
    assert broken(shown) == shown
    plain = shown.replace("\u2060", "")
    assert len(plain) == len(text)
    assert all(
        a == b or (b, a) in {("<", "＜"), ("[", "［"), ("]", "］")}
        for a, b in zip(plain, text, strict=True)
    )


ORDINARY = """
<b>a</b>, <table>, <br/>, <span class="s1">, <summary>, <first_name>, <your-key>, <https://a.de>
List<String>, Map<K, V>, Optional<T|None>, vector<my_type>, <yes|no>, a<b, c > d, a < b and c > d
f <| g x > y, x |> f, <|>, f <|g> x, ⟨ψ|φ⟩, ⟨s⟩, «mask», ‹think›, 《红楼梦》, 〈序〉, 【1】
【注】, ［附］, [1], [1, 2], [a](b), [^2], [docA#sec3], [INST-4 manual], [instance], [YOUR_NAME]
[OPTIONS], [x], [/b], [B], [sep], [Sept], [mask], arr[i], a[b<c], [2023-05], {end}, (eos), [ ]
"""


def test_ordinary_text_keeps_its_characters_and_is_no_reason_to_look() -> None:
    for text in (ORDINARY, *ORDINARY.splitlines()):
        assert broken(text) == text
        assert not speaks_for_others(text)


EITHER = (
    "now <s>ten</s> nine", "It opens at nine.</s>", "<think>Nine, then.</think> It opens at nine.",
    "run [OPTIONS] [ARGS], <filename>", "[QUOTE]so[/QUOTE]", "text <| String.trim name |> div",
)  # fmt: skip


def test_what_ordinary_text_may_have_too_is_broken_and_no_reason_to_look() -> None:
    assert [text for text in EITHER if broken(text) == text or speaks_for_others(text)] == []
