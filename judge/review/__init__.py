"""Spot-check by people: draws of claims, their labels, and the quality of the judge by them.

Each function returns records, and writes only the files that it is given and those in the run's
`review/`.
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
