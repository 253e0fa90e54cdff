"""The service's page of batches: those there are, one more, and where each is looked at."""

from functools import partial
from typing import Literal

from judge.messages import Lang, Messages
from judge.pages.html import render

Login = Literal["free", "needed", "done"]
"""Whether who looks must log in first: where nobody has to, does, or has."""


def page(lang: Lang, login: Login) -> str:
    """The page. It holds nothing of any batch; its script asks the service for them."""
    words = Messages.of("batches")
    texts = {key: words.template(key, lang) for key in words}
    return render("batches.html", lang, words=partial(words, lang=lang), texts=texts, login=login)
