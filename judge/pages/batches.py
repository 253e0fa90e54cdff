"""The page of the service's batches: the list of them, and a form that sends another."""

from judge.messages import Messages
from judge.pages.html import render
from judge.pages.words import PageWords


def page() -> str:
    """Return the page. It holds no data of a batch; its script asks the service for them."""
    words = Messages.of("batches")
    texts = {key: words.template(key) for key in words}
    return render("batches.html", words=PageWords("batches"), texts=texts)
