import pytest

from judge.judges.similarity.terms import tokens


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Rain fell for 45 days", "rain fell for 45 day"),
        ("１２ men, 3.5 km, 1,234.5 km", "12 men 3.5 km 1234.5 km"),
        ("26, 000 men and 1. 1 million", "26000 men and 1.1 million"),
        ("In 1995, 2013 men", "in 1995 2013 men"),
        ("July 1, 1969", "juli 1 1969"),
        ("Twenty Zebras", "20 zebra"),
        ("B12 and 12B", "b12 and 12 b"),
        ("雨四十五天，二〇二三年", "雨 45 天 2023 年"),
        ("十分好，万一下雨", "十 分 好 万 一 下 雨"),
        ("*** …", ""),
    ],
)
def test_words_and_numbers_in_whatever_writing(text: str, wanted: str) -> None:
    assert " ".join(tokens(text).stems) == wanted
