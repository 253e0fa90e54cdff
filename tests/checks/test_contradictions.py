"""Worked by hand: whether one text says otherwise than another."""

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.contradictions import contradiction


def denies(claim: str, passages: list[str]) -> bool:
    return contradiction(claim, passages) is not None


# Of each claim, what a denial in it reaches: the same claim without it is at odds with it.
DENIED = {
    "The drug was not approved in May.": "The drug was approved.",
    "The drug was not yet approved.": "The drug was approved.",
    "It didn't rain in Porto.": "It will rain in Porto.",
    "It did not cost 45 euros.": "It did cost 45 euros.",
    "公司不会裁员。": "公司会裁员。",
    "公司没有裁员。": "公司裁员。",
}
# What looks like a denial, and is none.
PLAIN = {
    "公司未来会裁员。": "公司会裁员。",
    "公司不仅裁员。": "公司裁员。",
    "锅是不锈钢的。": "锅是钢的。",
    "他不得不走。": "他走。",
}


def test_a_negation_denies_the_first_telling_word_behind_it() -> None:
    assert [row for row in DENIED.items() if not denies(row[0], [row[1]])] == []
    assert [row for row in PLAIN.items() if denies(row[0], [row[1]])] == []


BOTH_WAYS = [
    ("The deposit is refunded.", "The deposit is not refunded."),
    ("Room B12 costs 45 euros.", "Room B12 does not cost 45 euros."),
    ("The fee is forty-five euros.", "The fee is not 45 euros."),
    ("Breakfast is included in the rate.", "No, breakfast is not included in the rate."),
    ("The audit found no irregularities.", "The audit found irregularities."),
    ("押金将予以退还。", "押金将不予退还。"),
    ("审计没有发现违规行为。", "审计发现了违规行为。"),
    ("房价包含早餐。", "房价不包含早餐。"),
]
OPPOSED = [
    # A prefix, an adjective, two negations against one.
    ("The file is readable.", "The file is unreadable."),
    ("The applicant is eligible for the grant.", "The applicant is ineligible for the grant."),
    ("The tool does not run without a licence.", "The tool runs without a licence."),
    # Who rules otherwise of the same.
    ("Guests must wear a badge.", "Guests may wear a badge."),
    ("访客必须填写登记表。", "访客可以填写登记表。"),
    # The same figure, another bound.
    ("The lift holds at least 500 kg.", "The lift holds no more than 500 kg."),
    ("每班不得少于20人。", "每班20人以下。"),
    # The same way, turned round.
    ("The office moved from Lyon to Paris.", "The office moved from Paris to Lyon."),
    ("办公室从上海搬到北京。", "办公室从北京搬到上海。"),
    ("先放糖，再放盐。", "先放盐，再放糖。"),
]
AGREED = [
    ("Employees may take a second job.", "Employees are not prohibited from taking a second job."),
    ("Entrants must hold a ticket.", "Nobody may enter without a ticket."),
    ("Support for the format has ended.", "The format is no longer supported."),
    ("每班至多20人。", "每班不得超过20人。"),
    ("所有人都知道这条规定。", "没有人不知道这条规定。"),
    ("禁止未成年人入内。", "未成年人不得入内。"),
]
NEITHER: list[tuple[str, list[str]]] = [
    # Both deny, each in its own words.
    ("Children may not use the pool.", ["Children are not allowed to use the pool."]),
    ("Breakfast is not included.", ["No, breakfast is not included."]),
    # What is denied is something else.
    ("Breakfast is served.", ["Breakfast is served, lunch is not."]),
    ("Breakfast is served.", ["Lunch is not served. Breakfast is served daily."]),
    ("Breakfast is served.", ["Lunch is not served.", "Breakfast is served daily."]),
    ("早餐免费。", ["早餐免费，午餐不免费。"]),
    ("不仅早餐免费。", ["早餐免费。"]),
    # The other bound is of another rule.
    (
        "Requests for ten days or fewer need two weeks' notice.",
        [
            (
                "Requests for leave of more than ten consecutive working days must reach the line"
                " manager at least six weeks in advance. Shorter requests need two weeks' notice."
            )
        ],
    ),
    # Said of the limit from the other side.
    (
        "Each API key is limited to 120 requests per minute.",
        ["Requests are limited to 120 per minute for each API key."],
    ),
    # Nothing in common, or nothing at all.
    ("It rained.", ["The shop is not open."]),
    ("It rained.", []),
    ("", ["It did not rain."]),
]


def test_one_denies_what_the_other_says_both_ways() -> None:
    pairs = BOTH_WAYS + [(two, one) for one, two in BOTH_WAYS]
    assert [pair for pair in pairs if not denies(pair[0], [pair[1]])] == []
    assert [one for one, _ in pairs if denies(one, [one])] == []


def test_prefixes_rules_bounds_and_ways_are_read() -> None:
    opposed = OPPOSED + [(two, one) for one, two in OPPOSED]
    assert [pair for pair in opposed if not denies(pair[0], [pair[1]])] == []
    agreed = AGREED + [(two, one) for one, two in AGREED]
    assert [pair for pair in agreed if denies(pair[0], [pair[1]])] == []


def test_another_thing_denied_is_no_denial() -> None:
    assert [row for row in NEITHER if denies(*row)] == []


def test_what_stands_closest_decides_wherever_it_stands() -> None:
    assert denies("The deposit is not refunded.", ["It rained. The deposit is refunded. Ask us."])
    assert denies("The deposit is refunded.", ["It rained, the deposit is not refunded."])


# A claim that is wrong by a passage, one that is right, and the passage.
APART = [
    (
        "Dogs may enter the reading room.",
        "Dogs may not enter the reading room.",
        "Dogs are not allowed in the reading room.",
    ),
    (
        "The cable is included.",
        "The cable is not included.",
        "The phone ships without a cable; the cable is not included.",
    ),
    (
        "Employees must share their passwords.",
        "Employees must not share their passwords.",
        "Employees must not share their passwords with anyone, including IT staff.",
    ),
    (
        "The committee approved the budget.",
        "The committee rejected the budget.",
        "The committee rejected the budget on Friday by a large majority.",
    ),
    (
        "Refunds are available for sale items.",
        "Refunds are not available for sale items.",
        "No refunds are available for sale items.",
    ),
    (
        "The bridge is closed to lorries.",
        "The bridge is open to lorries.",
        "The bridge is open to lorries but closed to buses.",
    ),
    (
        "All participants received a certificate.",
        "Most participants received a certificate.",
        "Most participants received a certificate; a few left early.",
    ),
    (
        "Children under 12 must be accompanied.",
        "Children under 12 need not be accompanied.",
        "Children under 12 need not be accompanied by an adult.",
    ),
    ("The minimum age is 65.", "The maximum age is 65.", "The maximum age for applicants is 65."),
    (
        "Interest rates fell in March.",
        "Interest rates rose in March.",
        "Interest rates rose in March for the third time in a row.",
    ),
    (
        "The meeting takes place before lunch.",
        "The meeting takes place after lunch.",
        "The meeting takes place after lunch in room 4.",
    ),
    (
        "Trains are cheaper than buses on this route.",
        "Trains are dearer than buses on this route.",
        "On this route trains are more expensive than buses.",
    ),
    (
        "Berlin beat Hamburg in the final.",
        "Hamburg beat Berlin in the final.",
        "Hamburg beat Berlin 3-1 in the final last night.",
    ),
    (
        "Google acquired Motorola from Lenovo.",
        "Lenovo acquired Motorola from Google.",
        "Lenovo acquired Motorola from Google in 2014.",
    ),
    (
        "The tenant pays the landlord's legal costs.",
        "The landlord pays the tenant's legal costs.",
        "The landlord pays the tenant's legal costs if the case is lost.",
    ),
    (
        "Norway exports more gas than Qatar.",
        "Qatar exports more gas than Norway.",
        "Qatar exports more gas than Norway and Algeria.",
    ),
    (
        "Nobody was injured in the fire.",
        "Three people were injured in the fire.",
        "Three people were injured in the fire, one of them seriously.",
    ),
    (
        "Smoking is permitted on the balconies.",
        "Smoking is forbidden on the balconies.",
        "Smoking is strictly forbidden on the balconies.",
    ),
    (
        "The drug reduces blood pressure.",
        "The drug increases blood pressure.",
        "In patients over 60 the drug increases blood pressure slightly.",
    ),
    (
        "At most ten people can take part.",
        "At least ten people must take part.",
        "At least ten people must take part, or the tour is cancelled.",
    ),
    (
        "Applications are accepted after 1 June.",
        "Applications are accepted before 1 June.",
        "Applications are accepted before 1 June only by post.",
    ),
    (
        "Neither test was positive.",
        "Both tests were positive.",
        "Both tests were positive on the second day.",
    ),
    ("住宿允许携带小型犬。", "住宿不允许携带小型犬。", "本酒店住宿不允许携带小型犬及其他宠物。"),
    ("员工必须参加培训。", "员工无须参加培训。", "兼职员工无须参加培训。"),
    ("会议室可以预订。", "会议室不能预订。", "三楼会议室不能预订，先到先用。"),
    ("该产品含有酒精。", "该产品不含酒精。", "该产品不含酒精，孕妇可用。"),
    ("利率在三月下降。", "利率在三月上升。", "利率在三月连续第三次上升。"),
    ("最低消费为200元。", "最高消费为200元。", "每桌最高消费为200元。"),
    ("申请须在面试之后提交。", "申请须在面试之前提交。", "申请须在面试之前提交，逾期无效。"),
    ("房东向租客支付押金。", "租客向房东支付押金。", "租客应在签约当日向房东支付押金。"),
    ("阳台上可以吸烟。", "阳台上禁止吸烟。", "公寓阳台上禁止吸烟。"),
    ("旧版软件仍可使用。", "旧版软件不能再使用。", "旧版软件自五月起不能再使用。"),
    ("没有人在火灾中受伤。", "有三人在火灾中受伤。", "有三人在火灾中受伤，其中一人重伤。"),
    ("该药会升高血压。", "该药会降低血压。", "该药会降低血压，应遵医嘱服用。"),
    ("至多十人才能成团。", "至少十人才能成团。", "至少十人才能成团，否则取消。"),
    ("保修范围包括进水损坏。", "保修范围不包括进水损坏。", "保修范围不包括进水损坏和人为破坏。"),
    ("委员会通过了预算。", "委员会否决了预算。", "委员会周五否决了预算。"),
    ("门票价格上调了。", "门票价格下调了。", "自五月起门票价格下调了10元。"),
    # Some said as all, and one alone as everybody.
    ("All cabins have a stove.", "Some cabins have a stove.", "Some cabins have a stove."),
    ("所有房间都有阳台。", "部分房间有阳台。", "酒店有五十间房，部分房间有阳台。"),
    (
        "Anybody has access to the server room.",
        "Engineers have access to the server room.",
        "Access to the server room is limited to engineers.",
    ),
    ("所有人都能使用健身房。", "住户能使用健身房。", "健身房仅限住户使用。"),
    # What is compared stands in the clause before, and a word that holds another is no such word.
    (
        "Loch Ard is the shallowest of the lakes.",
        "Loch Ard is the deepest of the lakes.",
        "Among the lakes, Loch Ard is the deepest.",
    ),
    ("员工不得提前解除合同。", "员工可以解除合同。", "员工可随时解除合同。"),
    # Names that differ in a character, an office, a place of the same level.
    ("沈文娟主持会议。", "沈文涛主持会议。", "会议由浙江大学的沈文涛主持。"),
    ("报销找采购部。", "报销找会计部。", "报销请联系会计部，投诉由质检部受理。"),
    ("仓库在常州。", "仓库在扬州。", "总部设在无锡，仓库位于扬州。"),
    # What is added in words of its own.
    (
        "Tenants can use the laundry room without an appointment.",
        "Tenants can use the laundry room.",
        "Tenants can use the laundry room at all hours.",
    ),
    ("访客每天免费参加导览。", "访客每天参加导览。", "访客每天参加导览两次。"),
    (
        "The pass covers trains, buses and ferries.",
        "The pass covers trains and buses.",
        "The pass covers all trains and buses of the region.",
    ),
    # What one party does is not what the other does; verbs that compare.
    (
        "Birch sold the mill to Alder.",
        "Alder sold the mill to Birch.",
        "Birch bought the mill from Alder in May.",
    ),
    (
        "Norway beat Spain in the semi-final.",
        "Spain beat Norway in the semi-final.",
        "Norway lost to Spain in the semi-final.",
    ),
    ("学校从企业获得捐款。", "企业从学校获得捐款。", "学校向企业发放捐款。"),
    (
        "Exports fell short of imports.",
        "Imports fell short of exports.",
        "Exports exceeded imports.",
    ),
    ("公司撤销了巴黎办事处。", "公司设立了巴黎办事处。", "公司2010年在巴黎设立办事处。"),
]


def test_what_is_right_is_told_from_what_is_wrong() -> None:
    assert [wrong for wrong, _, passage in APART if not denies(wrong, [passage])] == []
    assert [right for _, right, passage in APART if denies(right, [passage])] == []


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_is_read_and_none_denies_itself(claim: str, others: list[str]) -> None:
    assert isinstance(denies(claim, others), bool)
    assert not denies(claim, [claim])


# A class that is denied, and a member of it, beside more words than the class stands with.
CLASSES = [
    ("Wine with dinner is reimbursed as well.", "Alcohol is not reimbursed."),
    ("A poodle may sleep in the guest room.", "Dogs may not sleep in the guest room."),
    ("午餐的啤酒费用可以报销。", "酒类费用不予报销。"),
]
MEMBERS = [
    # The member has a rule of its own.
    ("Coffee is served.", "Beverages are not served after ten. Coffee is served."),
    ("Wine at client dinners is paid.", "Alcohol is not paid. Wine at client dinners is paid."),
    ("导盲犬可以入内。", "宠物不得入内，导盲犬可以入内。"),
]


def test_what_is_denied_of_a_class_is_denied_of_its_members() -> None:
    assert [row for row in CLASSES if not denies(row[0], [row[1]])] == []
    assert [row for row in MEMBERS if denies(row[0], [row[1]])] == []
