"""Spot-check by people: draws of claims, their labels, and the quality of the judge by them.

The functions behind `judge review` and `judge gold`:

    draw(run, "review.csv", size=60)              # people fill in the sheet
    import_labels(run, ["review.csv"]).agreement  # the quality of the judge
    promote(run, "golden.jsonl")                  # a golden set for the exam
    draw_gold("samples.jsonl", "gold.csv")        # people grade chunks
    import_gold("samples.jsonl", ["gold.csv"], "gold.jsonl")  # a gold set for retrieval

Each returns records, and writes only the files that it is given and those in the run's `review/`.
"""

from judge.review.draws import DrawFiles as DrawFiles
from judge.review.draws import draw as draw
from judge.review.golden import Golden as Golden
from judge.review.golden import Promotion as Promotion
from judge.review.golden import promote as promote
from judge.review.golden import read_golden as read_golden
from judge.review.grades import GoldDraw as GoldDraw
from judge.review.grades import GoldReport as GoldReport
from judge.review.grades import draw_gold as draw_gold
from judge.review.grades import import_gold as import_gold
from judge.review.labels import ImportResult as ImportResult
from judge.review.labels import import_labels as import_labels
from judge.review.worksheet import worksheets as worksheets
