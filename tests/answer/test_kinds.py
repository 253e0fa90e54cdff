import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.records import Sentence, SentenceKind


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


@pytest.mark.parametrize(
    "sentence",
    [
        "We do not provide refunds after 30 days.",
        "We cannot offer refunds on sale items.",
        "We do not have data on 2024 sales.",
        "We do not give discounts to resellers.",
        "We are unable to help customers outside the EU.",
        "We cannot confirm orders by phone.",
        "We do not provide information about employees to third parties.",
        "We cannot provide refunds based on the information provided.",
        "We could not find your order.",
        "We don't know your password.",
        "We do not have information on file for this patient.",
        "We do not offer details of our suppliers.",
        "I cannot give refunds.",
        "I cannot confirm that the payment arrived.",
        "I cannot help customers with returns.",
        "I do not have the information about your order from 2023.",
        "I cannot provide the details of your account.",
        "I could not find a receipt for the purchase.",
        "The information provided by the employee is not sufficient for a claim under section 4.",
        "The documents provided by the applicant do not mention a spouse.",
        "The documents provided with the application do not include a passport copy.",
        "The information given to investors does not mention the lawsuit.",
        "The data provided to the regulator did not include deaths.",
        "The documents do not include a passport copy.",
        "The provided documents do not include a passport copy.",
        "Your documents do not contain a signature.",
        "The current contract does not specify a penalty.",
        "The article does not mention a limit of 5 days.",
        "The available data is not enough for statistical significance, p = 0.3.",
        "The available evidence does not support vaccines causing autism.",
        "The available evidence is insufficient to recommend screening.",
        "The current evidence is not sufficient.",
        "There is no evidence in the available data of a link between X and Y.",
        "There is no evidence in the provided studies that coffee causes cancer.",
        "It is not clear from the available evidence whether aspirin helps.",
        "It is unclear from the medical records when he died.",
        "Current information does not indicate any danger.",
        "The following documents are not sufficient: passport, visa.",
        "The above information does not include taxes.",
        "The attached materials do not contain asbestos.",
        "The content is not available in the provided format.",
        "No information is stored in the current context.",
        "There is insufficient information to determine the cause of the crash.",
        "It is difficult to treat the disease in the context of diabetes.",
        "Insufficient evidence.",
        "No data on pregnancy.",
        "The answer is not known to science.",
        "The passages do not mention a limit, which is 500 yuan.",
        "The passages do not mention a fee, students pay nothing.",
        "The passages do not mention the fee, and it is waived for students.",
        "The passages do not mention a limit of 5 days.",
        "The passages do not mention any side effects other than death.",
        "The passages do not mention the fee (it is waived for members).",
        "I don't know the date, but it was before the war.",
        "I cannot answer this question, the drug is lethal.",
        "I cannot determine your eligibility for the refund.",
        "It is mentioned in the provided passages.",
        "The information is provided in the given documents.",
        "The passages to the north do not provide shelter.",
        "Sure, the limit is 500.",
        "Of course refunds are free.",
        "Certainly not.",
        "Have a nice day pass costs 5 euros.",
        "Enjoy the all-inclusive pool.",
        "Let me know if the fever exceeds forty degrees.",
        "Let me know if the refund was approved by the board.",
        "Feel free to ask for a refund within thirty days.",
        "Please feel free to contact me if the dog bites.",
        "If you need a refund, feel free to contact the support team at once.",
        "If you have a fever, do not hesitate to ask a doctor for antibiotics.",
        "Contact support if you need help.",
        "Sorry for the delay, the order was cancelled by the supplier.",
        "Thank you for your patience regarding the refund that was paid last week.",
        "I hope this drug helps.",
        "Here are three drugs that cure cancer: aspirin, ibuprofen.",
        "Here are three drugs that cure cancer:",
        "Here are some drugs that cure cancer:",
        "Here is the answer: 42.",
        "Here are the 5 items:",
        "Here are the prohibited items:",
        "Based on the passages, I can say the limit is high",
        "Employees must get written approval from the board and follow these steps:",
        "Additionally, heart disease of grade four is treated as follows:",
        "The refund takes 5 days as follows:",
        "Note: this offer expires on 5 May.",
        "Note: Refunds are final.",
        "Sources: the 2019 report says 40 %.",
        "Source: the board.",
        "See a doctor.",
        "I am an AI doctor licensed in Germany.",
        "**Limit: 500 yuan**",
        "**Price: free**",
        "**Limit: five days**",
        "**Yes**",
        "**Refunds not allowed**",
        "**No refunds**",
        "**15 days of leave**",
        "**Fifteen days of leave**",
        "**Employees get leave**",
        "**When employees leave, they lose benefits**",
        "**What matters most, price counts**",
        "## Employees get 15 days",
        "## Children under 12",
        "## Shipping costs nothing",
        "## The offer expires in May",
        "## Vaccines cause autism",
        "## Membership includes breakfast",
        "# 500",
        "# $45",
        "Users under 18:",
        "1. **Deadline: 5 May**",
        "2. **Refund: within 14 days**",
        "Step 3: Turn off the power.",
        "Price: $45",
        "Did you know that the limit is 500 yuan?",
        "I don't have knowledge that the drug is safe, it is approved.",
        "I don't know whether he lied because he was in Paris.",
        "We cannot determine your eligibility from the documents provided.",
        "We cannot accept the documents provided by you.",
        "We can't provide invoices based on the information provided.",
        "The provided information is confidential.",
        "The provided evidence does not support the defendant.",
        "The given data do not prove that smoking is harmless.",
        "The retrieved data has been deleted.",
        "The text does not mention slavery.",
        "The articles do not mention weapons.",
        "The search results do not affect your ranking.",
        "The search results do not include adult websites by default.",
        "The context does not matter.",
        "The context menu does not include a delete option.",
        "The passage does not end in a dead end.",
        "The excerpt is not copyrighted.",
        "There is no information in the provided passport.",
        "There is no mention of God in the Constitution.",
        "It is impossible to escape from the given room.",
        "It is not possible to get a refund based on the information in the app.",
        "The question is not covered by the treaty.",
        "The answer is no.",
        "The answer is in the passages: aspirin.",
        "No relevant experience is required.",
        "Not enough vitamin D.",
        "Unable to work, he retired.",
        "Unable to determine the cause, the police closed the case.",
        "Cannot be combined with other offers.",
        "Cannot be refunded.",
        "Impossible to reproduce in humans.",
        "I am sorry the flight was cancelled.",
        "Sorry, refunds are closed.",
        "Thanks to the vaccine, deaths fell.",
        "Thank you for your question about refunds being free for members.",
        "Happy to help customers abroad.",
        "Great Britain won.",
        "Enjoy free shipping.",
        "Take care of the wound twice daily.",
        "Good luck charms are sold at the temple.",
        "Let me know the PIN printed on the card.",
        "If you have diabetes, please let me know.",
        "If you need a doctor, feel free to ask.",
        "Please feel free to smoke.",
        "Here is the CEO who was fired for fraud:",
        "Here is why the CEO was fired for fraud, according to the board:",
        "Here's what to take: aspirin.",
        "Follow these steps within 24 hours:",
        "The following instructions must never be followed:",
        "The rules are as follows: no dogs.",
        "In short, it fails.",
        "For example, dogs bark.",
        "Summary: the drug works.",
        "Conclusion: unsafe",
        "Answer: yes",
        "**Warning: do not mix with bleach**",
        "**Do not mix with bleach**",
        "**Safe for children**",
        "**Unlimited refunds**",
        "### Winner: France",
        "### France beat Brazil",
        "### Paris, capital of Germany",
        "**1. Refunds take a week**",
        "**2024: record sales**",
        "**Free**",
        "**Maximum stay: three nights**",
        "**Three nights maximum**",
        "**50%**",
        "**$5 fee**",
        "Employees lose benefits:",
    ],
)
def test_claims_that_sound_like_something_else(sentence: str) -> None:
    assert kind(sentence) == "claim"


@pytest.mark.parametrize(
    "sentence",
    [
        "现有数据不足以支持该疗法有效。",
        "目前资料显示没有副作用。",
        "现有证据无法证明吸烟无害。",
        "现有证据不足。",
        "该文件没有规定违约金。",
        "相关文件没有规定违约金。",
        "相关资料未提供的，不予报销。",
        "相关资料未提及的费用由员工承担。",
        "当前内容不包括税费。",
        "当前数据没有显示风险。",
        "参考文献没有提到副作用。",
        "目前证据不足以确定病因。",
        "目前无法确定肇事原因。",
        "以上信息不足的，公司可以拒绝赔付。",
        "上述材料不包括身份证复印件。",
        "上述材料没有提供的，视为放弃。",
        "提供的材料不足的，不予受理。",
        "申请人提供的材料没有说明收入来源。",
        "患者提供的资料中没有提到过敏史。",
        "您提供的材料不包含身份证。",
        "材料不足的，不予受理。",
        "资料不足，不予受理。",
        "没有相关记录。",
        "没有相关数据。",
        "暂无相关记录。",
        "我们没有收到您的资料。",
        "我们无法提供退款服务。",
        "我们无法提供该客户的信息。",
        "我们不能提供发票。",
        "我们未查到该订单的付款记录。",
        "我们没有找到相关信息。",
        "我们不清楚具体情况。",
        "我们无法回答记者的问题。",
        "系统无法确定您的位置。",
        "系统未能找到该用户的信息。",
        "我无法提供退款。",
        "我不能给出折扣。",
        "我无法确认您的订单已经发货。",
        "我没有找到该订单的付款记录。",
        "我无法确定您的账户状态。",
        "未查到该订单的付款信息。",
        "根据现有证据，无法确定病因的患者应转诊。",
        "根据现有资料，无法确定病因的患者应转诊。",
        "根据现有资料无法确定身份的，公司有权拒绝。",
        "无法确定病因的患者应转诊。",
        "资料中没有提到上限，上限为五百元。",
        "资料中没有提到费用，学生免费。",
        "资料中没有提到的费用不予报销。",
        "资料中没有说明上限为500元。",
        "资料未提及的事项由公司决定，员工必须遵守。",
        "提供的文档中没有提到，员工必须在五天内申请。",
        "现有信息显示没有危险。",
        "没有提到违约金。",
        "当然可以报销。",
        "可以的。",
        "您好，您的订单已取消。",
        "如需退款，请随时联系客服。",
        "如需退款，请随时联系我们的客服。",
        "如果您有其他问题请联系客服热线。",
        "如有发热，请随时就医。",
        "如有过敏史，请告知医生。",
        "如果您需要发票，可以咨询财务部。",
        "请随时携带身份证。",
        "欢迎随时咨询门店的退款服务。",
        "希望该药对您有帮助，每日三次。",
        "希望工程对您有帮助。",
        "祝您使用的产品免费保修。",
        "感谢您的支持，退款已到账。",
        "抱歉，订单已取消。",
        "以下是三种可以治愈癌症的药物：",
        "以下是治愈癌症的药物：",
        "以下是禁止携带的物品：",
        "请注意：以下是禁止携带的物品：",
        "以下情形不予报销：罚款。",
        "员工必须经总经理批准并按照以下步骤：",
        "退款在5天内到账，流程如下：",
        "注意：优惠五月到期。",
        "注：该药有毒。",
        "答案是：不可以。",
        "来源：董事会决定提高上限。",
        "**上限：500元**",
        "**上限500元**",
        "**年假十五天**",
        "**是**",
        "**不可以**",
        "**不予退款**",
        "**免费退货**",
        "**住宿费不超过五百元**",
        "**员工享受带薪年假**",
        "## 员工可享受15天年假",
        "## 上限五百元",
        "## 保修期一年",
        "## 会员包括早餐",
        "## 需提前申请",
        "## 有效三年",
        "## 最多报销两次",
        "# 500元",
        "满18岁的员工：",
        "第3步：关闭电源。",
        "年假：15天",
        "你知道吗，上限是500元？",
        "我不知道他何时出生，但应该是冬天。",
        "我们无法根据提供的资料为您退款。",
        "我们根据资料拒绝了申请。",
        "提供的证据无法证明被告有罪。",
        "提供的数据不支持该结论。",
        "文件不足的，退回申请。",
        "信息不足的客户无法开户。",
        "资料显示该药有效。",
        "资料有限公司成立于北京。",
        "上述内容均不构成投资建议。",
        "以上内容不适用于学生。",
        "以上材料缺一不可。",
        "现有员工无法享受补贴。",
        "已有证据显示该药无效。",
        "已知信息表明他已死亡。",
        "结果没有提到副作用。",
        "报告没有提供相关信息。",
        "合同中没有相关内容。",
        "公司没有提供相关资料。",
        "网站上没有找到相关信息。",
        "警方没有找到相关信息。",
        "没有找到凶器。",
        "未检索到航班。",
        "无相关病史。",
        "无法确定病因。",
        "无法退款。",
        "无法确定交货日期。",
        "该问题已解决。",
        "难以治愈。",
        "当然，上限为五百元。",
        "没问题，可以退款。",
        "可以",
        "如有需要，请联系财务部。",
        "如需发票请告诉我税号。",
        "如有问题，可以退款。",
        "如果您需要帮助，可以免费咨询。",
        "如有疑问，请咨询医生。",
        "请随时退货。",
        "希望您尽快付款。",
        "感谢您的支持，祝您中奖。",
        "祝您成功退款。",
        "以下是免费的项目：",
        "以下是导致癌症的食物：",
        "下面是会引起过敏的食物：",
        "费用如下：五百元",
        "不予报销的情形如下：",
        "罚款标准如下：每次五百元。",
        "总结：该药无效。",
        "答案：否",
        "注意：禁止吸烟",
        "**注意：禁止吸烟**",
        "**最长三年**",
        "**适合儿童**",
        "**无限次退款**",
        "**冠军：法国**",
        "**法国击败巴西**",
        "**每人限购两件**",
        "**全额退款**",
        "**仅限会员**",
        "一线城市六百元：",
        "公司拒绝赔付该员工的全部损失：",
    ],
)
def test_chinese_claims_that_sound_like_something_else(sentence: str) -> None:
    assert kind(sentence) == "claim"


@pytest.mark.parametrize(
    "sentence",
    [
        "I do not know the answer.",
        "I don't know what the limit is.",
        "I cannot answer this question.",
        "I'm unable to answer your question.",
        "I could not determine the date from the provided documents.",
        "I cannot provide an answer to this question.",
        "I am unable to provide a definitive answer based on the given passages.",
        "I do not have enough information to answer your question.",
        "I don't have information about this topic.",
        "I cannot answer because the provided passages do not contain the information.",
        "We cannot determine this from the provided passages.",
        "Based on the provided context, we cannot determine the exact date.",
        "The passages do not provide information on sales in 2024.",
        "The passages do not mention the fee.",
        "The provided documents do not contain any information about refunds.",
        "The documents you provided do not mention a fee.",
        "The information provided is not sufficient to answer the question.",
        "The retrieved documents do not specify the price.",
        "None of the passages mention the fee.",
        "The search results do not include information about pricing.",
        "There is no mention of a fee in the passages.",
        "It is not possible to determine the date from the given passages.",
        "Based on the given passages, it is unclear who wrote the letter.",
        "The answer cannot be determined from the context.",
        "No information about the fee is provided in the passages.",
        "我不确定。",
        "我无法提供准确的答案。",
        "我没有找到相关信息。",
        "我没有找到关于退款的信息。",
        "我们无法根据提供的资料确定具体日期。",
        "根据提供的资料，我们无法确定具体日期。",
        "根据已知信息无法回答该问题。",
        "根据现有信息，无法判断该政策是否适用。",
        "资料中没有提到2024年的销售额。",
        "提供的资料中没有提到员工的年假。",
        "很抱歉，提供的文档中没有关于退款的信息。",
        "您提供的资料中没有说明报销上限。",
        "上下文中没有足够的信息。",
        "上下文中没有足够的信息来回答这个问题。",
        "检索结果中没有找到相关信息。",
        "知识库中没有相关内容。",
        "由于提供的资料中没有相关信息，我无法回答该问题。",
        "资料中没有说明是否可以报销。",
        "文档信息不足，无法回答。",
        "上述资料未提及该药物的不良反应。",
        "无法回答该问题。",
        "暂无相关资料。",
        "提供的上下文不足以回答该问题。",
    ],
)
def test_more_abstentions(sentence: str) -> None:
    assert kind(sentence) == "abstention"


@pytest.mark.parametrize(
    "sentence",
    [
        "Happy to help!",
        "Let me know if you have any other questions or if there's anything else I can help with.",
        "Let me know if you need more information about this topic!",
        "If you have any further questions or require more detailed estimates, please let me know.",
        "Please don't hesitate to ask if you have any more questions.",
        "Feel free to reach out if you need further clarification.",
        "I apologize for the confusion in my previous answer.",
        "Thank you for your question about annual leave.",
        "当然可以！",
        "希望这些内容对您有所帮助！",
        "如果您还有其他问题，欢迎随时向我咨询。",
        "如果您有任何疑问，请随时告诉我。",
        "如需更多信息，请随时告诉我。",
        "如您需要进一步的帮助，请随时联系我。",
        "欢迎随时提问！",
        "感谢您的提问！",
        "祝您早日康复！",
    ],
)
def test_more_pleasantries(sentence: str) -> None:
    assert kind(sentence) == "pleasantry"


@pytest.mark.parametrize(
    "sentence",
    [
        "Here's how to fix a door that won't lock:",
        "Based on the provided passages, here are some ways to keep birds away:",
        "The steps are as follows:",
        "In summary:",
        "好的，以下是主要规定：",
        "以下是两个版本的对比：",
        "具体步骤如下：",
        "报销流程如下：",
        "综上所述：",
        "参考资料：[1]、[2]",
    ],
)
def test_more_meta(sentence: str) -> None:
    assert kind(sentence) == "meta"


@pytest.mark.parametrize(
    "sentence",
    [
        "## Annual leave",
        "### 1. Eligibility",
        "## 3.2 Refund policy",
        "**Step 1**",
        "**Part 2**",
        "Option 2:",
        "Passage 1:",
        "## How it works",
        "## Side effects of COVID-19",
        "Key benefits:",
        "## 一、报销标准",
        "## 3. 注意事项",
        "**第3步**",
        "**年假规定**",
        "## 如何申请",
        "**适用范围：**",
        "## 晨曦X3的保修与续航",
    ],
)
def test_more_headings(sentence: str) -> None:
    assert kind(sentence) == "heading"


@pytest.mark.parametrize(
    "sentence",
    [
        "I do not know of any cure, doctors say.",
        "We do not know whether the drug works.",
        "I can't tell you how to cheat, it is illegal.",
        "The documents provided are forged.",
        "The provided context window limits output.",
        "The materials provided do not contain nuts.",
        "The results provided are wrong.",
        "None of the drugs mention side effects.",
        "There is no information about refunds on the website.",
        "The text provided by law does not mention tax.",
        "Based on the evidence, it is unclear whether he died.",
        "Based on the provided passages, it is clear that he died.",
        "Based on the provided passages, he did not die.",
        "From the context, it is impossible to miss the irony of the king's words, he was mad.",
        "It appears that the provided passages describe a cure.",
        "The passages mention no cure but aspirin.",
        "The passages contradict each other.",
        "The provided sources do not agree on the date.",
        "Feel free to use the pool.",
        "Let me know this is correct.",
        "If you need help, I'm here, and the drug is safe.",
        "Happy to help, the drug is safe.",
        "Thanks for asking about the war that killed Stalin.",
        "Here is how to cure cancer with aspirin, which works:",
        "The answer is: 42",
        "The steps are dangerous as follows:",
        "**Approved by the FDA**",
        "**Banned in France**",
        "**Open on Sunday**",
        "**Closed on Sunday**",
        "**Tax-free**",
        "**Deadline passed**",
        "**CEO resigns**",
        "## Aspirin kills",
        "## Aspirin treats cancer",
        "Winner: France",
        "Result: positive",
        "根据提供的资料，他没有死亡。",
        "根据提供的资料，不予报销。",
        "根据提供的资料，该药不能治愈癌症。",
        "根据提供的资料，无法退款。",
        "根据提供的资料，公司没有提供年假。",
        "资料中没有错误。",
        "资料中没有人死亡。",
        "资料没有丢失。",
        "上下文没有矛盾。",
        "提供的信息不真实。",
        "提供的信息不属实的，取消资格。",
        "提供的资料不完整的申请人无法获得签证。",
        "上述信息未经核实。",
        "以上内容没有法律效力。",
        "现有资料没有显示他有罪。",
        "参考资料不得带入考场。",
        "我无法判断他有罪，因此释放。",
        "我不清楚，但上限是五百元。",
        "没有相关信息表明他已死亡。",
        "没有相关资料的员工不得报销。",
        "无法回答问题的考生不及格。",
        "文档不足三份的退回。",
        "如有问题，请随时提出退款。",
        "如果您有需要，可以随时退款。",
        "请随时联系警方。",
        "祝您使用该药后康复。",
        "报销不限额如下：",
        "**批准上市**",
        "**已获批准**",
        "**周日不营业**",
        "**总部在北京**",
        "**属于违法**",
    ],
)
def test_claims_in_the_words_of_a_refusal_or_a_title(sentence: str) -> None:
    assert kind(sentence) == "claim"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("References:\n[1] Smith 2020 found that aspirin cures cancer.", "claim"),
        ("Sources:\n[1] The refund takes 5 days.", "claim"),
        ("Sources:\n[1] Refunds are free.", "claim"),
        ("参考资料：\n[1] 研究表明该药有效。", "claim"),
        ("参考资料：\n[1] 上限为500元。", "claim"),
        ("References:\n[1] Smith (2020). Attention is all you need. Journal of Tests.", "meta"),
        ("参考资料：\n[1] 《差旅管理办法》", "meta"),
        ("Rome is old.\n\n[^1]: Refunds take 5 days.", "claim"),
        ("Rome is old.\n\n[^1]: 上限为500元。", "claim"),
        ("Rome is old.\n\n[^1]: https://a.b/c", "meta"),
    ],
)
def test_an_entry_or_a_footnote_that_says_something_is_a_claim(answer: str, expected: str) -> None:
    assert kinds(answer)[1] == expected


@pytest.mark.parametrize("header", ["| The limit is 500 yuan |", "| 上限为500元 |"])
def test_the_first_row_of_a_table_may_state(header: str) -> None:
    assert kinds(f"{header}\n|---|\n| Beijing |") == ["claim", "meta", "claim"]


@pytest.mark.parametrize(
    "part",
    [
        "the provided ",
        "based on the given passages, ",
        "i cannot find any ",
        ", ",
        "(",
        "[1] ",
        "提供的资料",
        "根据提供的资料，",
        "如果您有任何问题，",
        "以下是",
        "没有提到的",
        "1",
        "a-",
    ],
)
@pytest.mark.parametrize("head", ["", "the passages do not mention ", "资料中没有提到", "if "])
def test_no_sentence_takes_long(head: str, part: str) -> None:
    sentence = Sentence(index=0, start=0, end=400, text=(head + part * 400)[:400])
    began = time.perf_counter()
    classify((sentence, sentence))
    # A pattern that tried every way would take minutes.
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    "sentence",
    [
        "Unanswerable",
        "unanswerable.",
        "CANNOTANSWER",
        "N/A",
        "no_answer",
        "Not enough info",
        "I can not answer the question because of the insufficient information in documents.",
        "I cannot answer this because there is not enough information in the documents.",
        "I'm afraid I don't know.",
        "I'm sorry, but I don't have that information.",
        "I don't have access to that information.",
        "I don't have an answer to that question.",
        "I have no information about this.",
        "I have no idea.",
        "I can't help with that.",
        "Sorry, I couldn't find anything about that.",
        "Sorry, we could not find an answer to your question.",
        "The question is unanswerable.",
        "Question cannot be answered.",
        "I am not sure about that.",
        "Answer: I don't know.",
        "Answer: unanswerable",
        "答案：我不知道。",
        "回答：无法回答。",
        "我不太清楚。",
        "我没有这方面的信息。",
        "我没有足够的信息来回答这个问题。",
        "抱歉，我暂时没有相关信息。",
        "抱歉，我无法提供该信息。",
        "抱歉，没有找到答案。",
        "作为一个人工智能助手，我无法回答这个问题。",
    ],
)
def test_an_assistant_that_speaks_of_itself_or_a_label_refuses_anywhere(sentence: str) -> None:
    assert kind(sentence) == "abstention"
    assert kinds(sentence) == ["abstention"]


REFUSES_ALONE = [
    "unknown",
    "Unknown.",
    "**Unknown**",
    "No answer",
    "No answer found.",
    "No Answer Present.",
    "[No answer]",
    "Not sure.",
    "We don't know.",
    "Not mentioned.",
    "Not specified",
    "Not mentioned in the documents.",
    "Not found in the provided text.",
    "Information not found.",
    "This information is not available in the documents.",
    "No information available.",
    "No relevant documents found.",
    "There isn't enough information.",
    "There is no answer in the text.",
    "The answer is not in the documents.",
    "The answer is unknown.",
    "It is not possible to answer this question.",
    "This cannot be determined from the documents.",
    "Based on the documents, I cannot determine the answer.",
    "The documents do not mention this.",
    "The text does not say.",
    "The documents do not contain enough information to answer the question.",
    "None of the documents contain the answer.",
    "Nothing in the documents answers this question.",
    "Answer: not mentioned",
    "That isn't mentioned in the text.",
    "I could not locate this information.",
    "No answer can be found in the documents.",
    "There is insufficient evidence in the context to answer.",
    "不知道",
    "不清楚。",
    "不确定。",
    "未知",
    "没有答案",
    "无答案",
    "暂无答案",
    "无法确定。",
    "未提及",
    "没有提到。",
    "文中未提及",
    "文档中未提及。",
    "文档中没有提到，因此无法回答。",
    "文档中没有相关信息。",
    "文档没有提供足够的信息。",
    "根据文档内容无法确定。",
    "无法从文中得知。",
    "材料未提供相关信息。",
    "该问题没有答案。",
    "答案未知",
    "答案：无法确定",
    "文章里没说。",
    "我回答不了这个问题。",
    "暂时无法回答该问题。",
    "没有足够的信息回答这个问题。",
    "该文档中没有提供这方面的信息。",
    "答：未提及。",
]


@pytest.mark.parametrize("answer", REFUSES_ALONE)
def test_a_refusal_that_is_the_whole_answer(answer: str) -> None:
    assert kinds(answer) == ["abstention"]


@pytest.mark.parametrize("answer", REFUSES_ALONE)
def test_the_same_words_between_claims_are_a_claim(answer: str) -> None:
    plain = answer.strip("*")
    assert kind(plain) == "claim"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Sorry!\n\nUnknown.", ["pleasantry", "abstention"]),
        (
            "Not mentioned in the documents. Let me know if you have any other questions.",
            ["abstention", "pleasantry"],
        ),
        ("The documents do not mention this. I cannot answer.", ["abstention", "abstention"]),
        ("不知道。如有其他问题，请随时提问。", ["abstention", "pleasantry"]),
        ("文档中未提及。我无法回答。", ["abstention", "abstention"]),
        ("Unknown. Rome is old.", ["claim", "claim"]),
        ("未知。罗马很古老。", ["claim", "claim"]),
        ("## Author\n\nUnknown", ["heading", "claim"]),
        ("Who built it? Unknown.", ["question", "claim"]),
        # What cites has found something.
        ("Unknown [1].", ["claim"]),
        ("未知[1]。", ["claim"]),
    ],
)
def test_polite_words_around_a_refusal_say_nothing(answer: str, expected: list[str]) -> None:
    assert kinds(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "No",
        "None",
        "None.",
        "Nothing.",
        "Impossible.",
        "Insufficient evidence.",
        "No data.",
        "Not available.",
        "Not found.",
        "Not included.",
        "Not provided.",
        "It is unknown.",
        "It is unknown who built the tower.",
        "Unknown to the public.",
        "He does not know the answer.",
        "No one knows the answer.",
        "We don't know his name.",
        "We cannot find the cause.",
        "We cannot provide this.",
        "I'm not sure of the cause, but it is a virus.",
        "I cannot find the keys.",
        "No answer came from the ministry.",
        "No answer was given by the minister.",
        "The answer is no.",
        "The answer is in the article.",
        "The answer is not available to the public.",
        "The question is unanswerable in set theory.",
        "The question cannot be answered by science.",
        "The report does not mention the cost of repairs.",
        "The documents do not mention the fee.",
        "The documents do not mention this clause.",
        "The contract does not say.",
        "The source does not provide it.",
        "Not mentioned in dispatches.",
        "Not available in Germany.",
        "Not specified by the manufacturer.",
        "N/A for members.",
        "It is impossible to determine the cause.",
        "There is no answer to cancer.",
        "There is no information on the website.",
        "No relevant documents were found at the scene.",
        "无",
        "没有",
        "没有。",
        "否",
        "不能。",
        "不详",
        "未找到",
        "没有资料。",
        "他不知道答案。",
        "医生不清楚病因。",
        "不清楚规定的员工请咨询人事部。",
        "我们不知道真相。",
        "合同未提及违约金。",
        "合同未说明。",
        "文档未提及违约金。",
        "文章没有提到作者的名字。",
        "未提及的费用不予报销。",
        "没有提到他的名字。",
        "没有说明理由。",
        "没有回答。",
        "没有答案的题目得零分。",
        "未找到凶手。",
        "未知病毒。",
        "未知原因导致死亡。",
        "无法确定病因。",
        "无法回答警方的问题。",
        "信息不能泄露。",
        "文件没有盖章。",
        "文章没有回答记者的问题。",
        "我没有资料。",
        "我没有找到钥匙。",
        "暂无计划。",
        "答案：没有。",
        "答案是未知。",
    ],
)
def test_an_answer_that_says_something_is_no_refusal(answer: str) -> None:
    assert kinds(answer) == ["claim"]
    assert kind(answer) == "claim"


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not mention it, the fee is {}.",
        "Unknown, but about {}.",
        "文档中未提及，上限为{}。",
    ],
)
@given(amount=st.integers(min_value=1, max_value=10**6))
def test_no_refusal_holds_a_figure(answer: str, amount: int) -> None:
    assert kinds(answer.format(amount)) == ["claim"]


@given(st.sampled_from(REFUSES_ALONE), st.sampled_from(["Rome is old.", "罗马很古老。", "- 70"]))
def test_an_answer_with_a_claim_keeps_it(refusal: str, claim: str) -> None:
    assert kinds(f"{claim}\n\n{refusal}")[0] == "claim"
    assert kinds(f"{refusal}\n\n{claim}")[-1] == "claim"


@pytest.mark.parametrize(
    "part",
    [
        "与a的的",
        "关于的",
        "这方面的",
        "直接",
        "，",
        "answer: ",
        "sorry, ",
        "in the documents ",
        "文档中的信息",
    ],
)
@pytest.mark.parametrize("head", ["", "我没有", "资料中没有", "文档中没有", "no answer ", "not "])
def test_no_whole_answer_takes_long(head: str, part: str) -> None:
    sentence = Sentence(index=0, start=0, end=400, text=(head + part * 400)[:400])
    began = time.perf_counter()
    classify((sentence,))
    # A topic that could be read in several ways, thirty times over, would take hours.
    assert time.perf_counter() - began < 0.5


def test_nothing_comes_of_nothing() -> None:
    assert classify(()) == ()


@given(st.text(alphabet="ab 是。.?？#*|-[]1:\n`I don't know", max_size=60))
def test_only_the_kind_is_set(answer: str) -> None:
    sentences = split(answer)
    found = classify(sentences)
    assert [s.model_copy(update={"kind": SentenceKind.CLAIM}) for s in found] == list(sentences)
    assert classify(found) == found


def test_backticks_that_open_no_fence_hide_no_claim() -> None:
    (sentence,) = split("```500``` is the limit for one night.")
    assert [s.kind for s in classify([sentence, sentence])] == [SentenceKind.CLAIM] * 2


@pytest.mark.parametrize(
    "opening", ["作为助手，", "抱歉，", "答案：", "根据资料，", "作为助手，根据资料，"]
)
def test_commas_behind_an_opening_are_read_once(opening: str) -> None:
    text = opening + "，" * (390 - len(opening)) + "x"
    sentence = Sentence(index=0, start=0, end=len(text), text=text)
    started = time.perf_counter()
    classify([sentence])
    assert time.perf_counter() - started < 0.3
