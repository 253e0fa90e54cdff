"""The page on which people label, a sentence at a time."""

from functools import partial
from shlex import quote
from typing import Final

from judge.messages import Lang, Messages
from judge.pages.html import render
from judge.records import Support
from judge.review.worksheet import SKIPS

_SCRIPT: Final = ("page.", "label.", "skip.")
"""What the script of the page says by itself."""


def page(lang: Lang, run: str = "") -> str:
    """The page. It holds no text of the run; its script asks for these beside its own address.

    Args:
        lang: of the page.
        run: what `judge review import` is to be given; without, the service imports.
    """
    words = Messages.of("label")
    texts = {
        key.removeprefix("page."): words.template(key, lang)
        for key in words
        if key.startswith(_SCRIPT)
    }
    return render(
        "label.html",
        lang,
        words=partial(words, lang=lang),
        texts=texts,
        labels=[each.value for each in Support],
        skips=SKIPS,
        home=not run,
        command=f"judge review import {quote(run)}" + " --lang zh" * (lang == "zh"),
    )
