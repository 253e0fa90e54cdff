"""What is right in other words than its source: no rule that finds errors takes it for one."""

from tests.bench.pairs import Pair, measure

# A source, and what it bears out.
RIGHT = [
    # A place inside a place.
    ("该公司总部位于深圳。", "该公司总部位于广东。"),
    ("华为总部位于深圳市。", "华为总部位于广东。"),
    ("会议在东京举行。", "会议在日本举行。"),
    ("该厂位于武汉。", "该厂位于湖北。"),
    ("他出生于巴黎。", "他出生于法国。"),
    ("总部设在纽约。", "总部设在美国。"),
    # Words that hold a surname or the suffix of an office; short forms.
    ("珠穆朗玛峰海拔8848米。", "珠穆朗玛峰海拔高达8848米。"),
    ("患者腹部疼痛。", "病人腹部疼痛。"),
    ("酒店餐厅提供早餐。", "宾馆餐厅提供早餐。"),
    ("国家市场监督管理总局发布了新规定。", "市场监管总局发布了新规定。"),
    ("他毕业于一所著名大学。", "他毕业于一所知名大学。"),
    ("他毕业于著名大学。", "他毕业于知名大学。"),
    # Synonyms.
    ("The window was smashed in the storm.", "The window was shattered in the storm."),
    (
        "The employee requested a reimbursement for travel.",
        "The employee requested a refund for travel.",
    ),
    ("The medicine alleviates headaches and fever.", "The medicine relieves headaches and fever."),
    ("The earthquake devastated the coastal town.", "The earthquake ravaged the coastal town."),
    (
        "Rescuers found the missing hikers on Sunday.",
        "Rescuers found the missing climbers on Sunday.",
    ),
    ("The cat slept on the sofa all day.", "The cat slept on the couch all day."),
    ("The wine is stored in the cellar.", "The wine is stored in the basement."),
    ("The city collects garbage every Monday.", "The city collects trash every Monday."),
    ("The plumber repaired the kitchen faucet.", "The plumber repaired the kitchen tap."),
    # Adverbs and grammar.
    ("博物馆是北京市中心的建筑。", "博物馆是位于北京市中心的建筑。"),
    ("该药用于治疗高血压。", "该药主要用于治疗高血压。"),
    ("会议在北京举行。", "会议在北京市内举行。"),
    ("2022年冬奥会在北京举行。", "2022年冬奥会在北京市内举行。"),
    ("图书馆每天开放。", "图书馆通常每天开放。"),
    ("公司有员工三百人。", "公司目前有员工三百人。"),
    # What is excepted from a rule.
    ("除周一外，图书馆每天开放。", "图书馆周一不开放。"),
    ("除周一外，图书馆每天开放。", "图书馆周一闭馆。"),
    ("除实习生外，员工均可参加。", "实习生不可参加。"),
    ("除实习生外，员工均可参加培训。", "实习生不可参加培训。"),
    # A unit of two words.
    ("The heater uses 4 kilo watt of power.", "The heater uses 4 kW of power."),
    ("The heater uses 4 kilo watt of power.", "The heater uses 4,000 watts of power."),
    ("市场监督管理局发布了新规定。", "市场监管局发布了新规定。"),
    ("市场监管局发布了新规定。", "市场监督管理局发布了新规定。"),
    ("周一以外，图书馆每天开放。", "图书馆周一不开放。"),
    ("The library is open daily except on Mondays.", "The library is not open on Mondays."),
    ("除周一之外，图书馆每天开放。", "图书馆周一不开放。"),
    ("The tank weighs 10 kilo gram when full.", "The tank weighs 10 kg when full."),
]


def test_what_is_right_in_other_words_stays_full() -> None:
    pairs = [
        Pair(str(at), "en" if right.isascii() else "zh", "trap", "learn", source, right)
        for at, (source, right) in enumerate(RIGHT)
    ]
    assert [each.pair[4:6] for each in measure(pairs) if each.alarm] == []
