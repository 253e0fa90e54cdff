"""The service's page of batches: those there are, one more, and where each is looked at."""

from functools import partial

from judge.messages import Lang, Messages
from judge.pages.html import render


def page(lang: Lang) -> str:
    """The page. It holds nothing of any batch; its script asks the service for them."""
    words = Messages.of("batches")
    texts = {key: words.template(key, lang) for key in words}
    return render("batches.html", lang, words=partial(words, lang=lang), texts=texts)
