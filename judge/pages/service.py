"""The pages that are served: to label on, and of the service's batches.

They hold no text of a run: their scripts request what they show.
"""

from shlex import quote
from typing import Final

from judge.messages import LANGUAGE, Messages
from judge.pages.html import PageWords, render
from judge.records import Support

_SCRIPT_KEYS: Final = ("page.", "label.")


def label_page(run: str = "") -> str:
    """Return the page on which people label, one sentence at a time.

    Args:
        run: the run folder in the command `judge review import` that the page shows at the end.
            Without it the page has a button, and the service imports the labels.
    """
    words = Messages.of("label")
    texts = {
        key.removeprefix("page."): words.template(key)
        for key in words
        if key.startswith(_SCRIPT_KEYS)
    }
    chinese = LANGUAGE.get() == "zh"
    return render(
        "label.html",
        words=PageWords("label"),
        texts=texts,
        labels=[each.value for each in Support],
        home=not run,
        command=f"judge review import {quote(run)}" + " --lang zh" * chinese,
    )


def batches_page() -> str:
    """Return the list of batches, and a form that sends another."""
    words = Messages.of("batches")
    texts = {key: words.template(key) for key in words}
    return render("batches.html", words=PageWords("batches"), texts=texts)
