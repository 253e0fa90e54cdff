import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import SentenceKind
from judge.steps.kinds import classify
from judge.steps.split import split


def kinds(answer: str) -> list[str]:
    return [sentence.kind.value for sentence in classify(split(answer))]


def kind(sentence: str) -> str:
    """Kind of a sentence in the middle of an answer."""
    found = kinds(f"Rome is old.\n\n{sentence}\n\nRome is big.")
    assert len(found) == 3, found
    return found[1]


@pytest.mark.parametrize(
    "sentence",
    [
        # About the subject, not about the material.
        "The policy does not mention a limit of 5 days.",
        "The contract does not specify penalties.",
        "The report states that there is no information about the victims.",
        "There is no mention of the island in the context of naval warfare.",
        "The company does not provide information on its customers.",
        "Scientists do not know the answer to this question.",
        "It is unclear who wrote the letter.",
        "合同没有规定违约金。",
        "该政策未提及5天的限制。",
        "无法提供发票的，不予报销。",
        "公司不能确定交货日期。",
        "文件没有说明赔偿标准。",
        # An answer in the same breath.
        "The provided passages do not mention a fee, but it is 5%.",
        "I don't know the exact date, however it was before 1990.",
        "资料中没有提到上限，但通常为500元。",
        "Based on the passages, the limit is 500 yuan.",
        "Sure, the limit is 500 yuan.",
        "Certainly, Paris is the capital.",
        "好的，报销上限为500元。",
        "根据资料，上限是500元。",
        "希望小学于1990年建成，对当地有帮助。",
        "If you have any questions, please call 555-0100.",
        "There are three kinds of leave: annual, sick and parental.",
        "以下情形不予报销：罚款、滞纳金。",
        "He asked: “Who goes there?”",
        "Juliet says the line 'What's in a name?",
        "The limit is 500 yuan, right?",
        # Items, rows, bare values, short lines.
        "- Employees apply within 5 days.",
        "| Beijing | 500 |",
        "Yes.",
        "Paris",
        "**The limit is 500 yuan**",
        "## The limit is 500 yuan",
        "Source: the limit was raised by the board in spring.",
        "I am an AI researcher at the university of Bonn.",
    ],
)
def test_claims(sentence: str) -> None:
    assert kind(sentence) == "claim"


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know.",
        "I’m sorry, but I cannot answer this question based on the provided context.",
        "I couldn't find any information about refunds in the documents provided.",
        "I do not have enough information to answer.",
        "Unable to answer based on given passages.",
        "Unfortunately, the provided passages do not mention the fee [1].",
        "The context does not contain the answer.",
        "The given documents are not sufficient to say.",
        "Based on the provided context, it is not possible to determine the date.",
        "There is no information about the fee in the retrieved documents.",
        "The answer is not mentioned in the given passages.",
        "Not enough information.",
        "我不知道。",
        "抱歉，我无法回答这个问题。",
        "资料中没有提到相关内容。",
        "根据现有资料无法确定。",
        "根据提供的文档，无法判断报销上限。",
        "所给段落并未提及具体金额。",
        "提供的上下文中没有关于出租车的信息。",
        "文档信息不足，因此我无法基于提供的文档回答该问题。",
        "未找到相关信息。",
        "无法回答。",
    ],
)
def test_abstentions(sentence: str) -> None:
    assert kind(sentence) == "abstention"


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure!",
        "Of course.",
        "Great question!",
        "I'd be happy to help you with that!",
        "I hope this helps!",
        "Let me know if you have any other questions.",
        "If you need anything else, feel free to ask!",
        "Is there anything else I can help you with?",
        "好的，",
        "您好！",
        "希望以上信息对您有帮助。",
        "如有其他问题，请随时提问。",
        "还有其他问题吗？",
        "祝您生活愉快！",
    ],
)
def test_pleasantries(sentence: str) -> None:
    assert kind(sentence) == "pleasantry"


@pytest.mark.parametrize(
    "sentence",
    [
        "Here is a summary:",
        "Sure, here are the steps based on the given passages:",
        "Based on the passages, the answer is:",
        "To clean the vent, follow these steps:",
        "Note: I am an AI language model.",
        "以下是报销流程：",
        "根据提供的资料，回答如下：",
        "我是一个人工智能助手。",
        "[1][2]",
        "---",
        "* * *",
        "[^1]: Smith 2020",
        "Sources: [1], [2]",
        "来源：《差旅管理办法》",
    ],
)
def test_meta(sentence: str) -> None:
    assert kind(sentence) == "meta"


@pytest.mark.parametrize("sentence", ["Which city do you mean?", "您指的是哪个城市？"])
def test_questions(sentence: str) -> None:
    assert kind(sentence) == "question"


@pytest.mark.parametrize(
    "sentence",
    [
        "# Leave",
        "## What is annual leave",
        "Leave\n-----",
        "**Annual leave**",
        "1. **Annual leave:**",
        "Annual leave:",
        "报销标准：",
        "**报销标准**",
    ],
)
def test_headings(sentence: str) -> None:
    assert kind(sentence) == "heading"


@pytest.mark.parametrize("sentence", ["```python\nprint(1)\n```", "~~~\nx. y\n~~~"])
def test_code(sentence: str) -> None:
    assert kind(sentence) == "code"


@pytest.mark.parametrize(
    "answer",
    ["70", "1949年", "No.", "**Paris**", "Paris:", "巴黎", "∞", "6.1%", "觉醒年代；冰球旋风"],
)
def test_a_whole_answer_may_be_a_bare_value(answer: str) -> None:
    assert kinds(answer) == ["claim"]


def test_the_header_of_a_table_is_a_heading_and_its_separator_meta() -> None:
    table = "| City | Limit |\n|:---|---:|\n| Beijing | 500 |\n| Xi'an | 300 |"
    assert kinds(table) == ["heading", "meta", "claim", "claim"]


@pytest.mark.parametrize("heading", ["References:", "## Sources", "**参考文献**", "参考资料："])
def test_the_lines_of_a_reference_list_are_meta(heading: str) -> None:
    answer = f"Rome is old.\n\n{heading}\n[1] Smith 2020\n2. Passage 2\n- https://a.b/c\n《办法》"
    assert kinds(answer) == ["claim", "heading", "meta", "meta", "meta", "meta"]


def test_a_reference_list_ends_with_the_first_line_that_is_no_entry() -> None:
    answer = "Sources:\n[1] Smith 2020\nThe limit is 500 yuan.\n1. Passage 3 says so."
    assert kinds(answer) == ["heading", "meta", "claim", "claim"]


def test_sources_that_are_the_subject_are_claims() -> None:
    assert kinds("Sources:\n- Meat is rich in iron.\n- So are beans.") == [
        "heading",
        "claim",
        "claim",
    ]


def test_nothing_comes_of_nothing() -> None:
    assert classify(()) == ()


@given(st.text(alphabet="ab 是。.?？#*|-[]1:\n`I don't know", max_size=60))
def test_only_the_kind_is_set(answer: str) -> None:
    sentences = split(answer)
    found = classify(sentences)
    assert [s.model_copy(update={"kind": SentenceKind.CLAIM}) for s in found] == list(sentences)
    assert classify(found) == found
