"""The exam of a judge, on items whose right labels are known: `sit`, then `compare` two reports."""

from judge.exam.comparison import compare as compare
from judge.exam.comparison import read_report as read_report
from judge.exam.items import ExamItem as ExamItem
from judge.exam.items import ExamItems as ExamItems
from judge.exam.items import first_items as first_items
from judge.exam.items import read_items as read_items
from judge.exam.records import ExamReport as ExamReport
from judge.exam.records import ExamRow as ExamRow
from judge.exam.scores import grade as grade
from judge.exam.sitting import sit as sit
