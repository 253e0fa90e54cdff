"""Worked by hand: which of two things a sentence puts on which side."""

from judge.checks.contradictions import contradiction

# What is given, what says the same from the other side, and what does not.
COMPARED = [
    (
        "Interns have a shorter notice period than clerks.",
        "Clerks have a longer notice period than interns.",
        "Interns have a longer notice period than clerks.",
    ),
    (
        "The oral vaccine is not as effective as the injected one.",
        "The injected vaccine is more effective than the oral one.",
        "The oral vaccine is more effective than the injected one.",
    ),
    (
        "Rye dough is stickier than wheat dough.",
        "Wheat dough is less sticky than rye dough.",
        "Wheat dough is stickier than rye dough.",
    ),
    (
        "Fewer people voted in the second round than in the first.",
        "More people voted in the first round than in the second.",
        "More people voted in the second round than in the first.",
    ),
    (
        "Managers earn twice as much as assistants.",
        "Assistants earn half as much as managers.",
        "Assistants earn twice as much as managers.",
    ),
    ("X4 is as long as X7.", "X7 is as long as X4.", "X4 is longer than X7."),
    ("店员的通知期长于实习生。", "实习生的通知期比店员短。", "实习生的通知期比店员长。"),
    ("口服药不如针剂。", "针剂比口服疫苗好。", "口服药比针剂好。"),
    ("黑面没有白面那么有弹性。", "白面比黑面有弹性。", "黑面比白面有弹性。"),
    ("与红队相比，蓝队的失误更少。", "红队的失误比蓝队多。", "蓝队的失误比红队多。"),
    ("经理的收入是助理的两倍。", "助理的收入是经理的一半。", "助理的收入是经理的两倍。"),
    ("四号线与七号线一样长。", "七号线和四号线一样长。", "七号线比四号线长。"),
]  # fmt: skip
# Two comparisons of other things, or on other scales, say nothing of each other.
OTHER = [
    ("Copper is cheaper than iron.", "Iron is harder than copper."),
    ("Ana is older than Ben.", "Cem is older than Ana."),
    ("More than 50 guests came.", "More than 60 guests were invited."),
    ("铜比铁便宜。", "铁比铜硬。"),
    ("甲队比乙队快。", "丙队比甲队快。"),
]


def test_a_comparison_may_turn_round_with_its_sides() -> None:
    found = [(given, said) for given, said, _ in COMPARED if contradiction(said, [given])]
    passed = [(given, said) for given, _, said in COMPARED if not contradiction(said, [given])]
    assert (found, passed) == ([], [])
    assert [row for row in OTHER if contradiction(row[0], [row[1]])] == []


# What is given, what says the same, and what gives each the other's part.
ROLES = [
    (
        "Halden was acquired by Verdant in 2016.",
        "Verdant acquired Halden in 2016.",
        "Halden acquired Verdant in 2016.",
    ),
    (
        "Mentors evaluate trainees at the end of a module.",
        "Trainees are evaluated by mentors.",
        "Mentors are evaluated by trainees.",
    ),
    (
        "The tenant must notify the landlord of any leak.",
        "The landlord must be notified of any leak by the tenant.",
        "The landlord must notify the tenant of any leak.",
    ),
    ("压力常常诱发患者的偏头痛。", "患者的偏头痛常由压力诱发。", "患者的压力常由偏头痛诱发。"),
    ("供应商应赔偿采购方的损失。", "供应商赔偿采购方的损失。", "采购方应赔偿供应商的损失。"),
]


def test_a_verb_may_turn_round_with_who_does_it() -> None:
    found = [(given, said) for given, said, _ in ROLES if contradiction(said, [given])]
    passed = [(given, said) for given, _, said in ROLES if not contradiction(said, [given])]
    assert (found, passed) == ([], [])
    first = "The song was first recorded by Jim Haas for two seasons."
    assert not contradiction("For two seasons the song was recorded by Jim Haas.", [first])
