"""Lines of letters and e-mails whose line breaks were lost: headers, greetings, attachments."""

import re
from collections.abc import Iterator

from judge.text.words import abbreviations

_NAME = r"[A-Z][\w.'@/-]*+"
_ADDRESS = r"[\w.+-]{1,64}@[\w-][\w.-]*\w"

_STAMP = re.compile(
    r"(?<!\S)\d{1,2}/\d{1,2}/(?:\d{4}|\d\d)\s\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm])?(?!\S)"
)
_SENDER_WIDTH = 120
_SENDER = re.compile(
    rf"\s*+(?:\"[^\"]{{1,60}}\"\s?<[^<>\s]{{1,80}}>|{_ADDRESS}|{_NAME}@{_NAME}"
    rf"|(?P<name>{_NAME}(?:\s{_NAME}){{1,5}}+))(?P<at>\son)?\s*+"
)
# In lower case only what cannot be the predicate of a name: "have you heard", not "applies to all".
_MESSAGE = re.compile(
    r"\s*+(?![a-z])|\s*+(?:i|you|we|he|she|they|it|this|these|have|do|are|what|where|why|how|who"
    r"|please|thanks?|here|yes|no|let|(?:can|could|will|would|did)\s(?:you|we|i))\b"
)
_SENTENCE_BEFORE = re.compile(r"^.*[.!?>]\s", re.DOTALL)

_ADDRESS_FIELD = re.compile(
    rf"(?<!\S)(?:E-?mail|From):\s(?:\"[^\"]{{1,60}}\"|(?:\w{{1,20}}\s){{1,5}}+)?+"
    rf"(?:\s?<[^<>\s]{{1,80}}>|{_ADDRESS})(?=\s+[A-Z])"
)
_FIELD = re.compile(
    r"(?<!\S)(?:Phone|Tel|Telephone|Fax|Mobile|Cell|E-?mail|Website|Web|URL|Groups"
    r"|电话|手机|传真|邮箱|邮编|电子邮件|网址|地址)\s?(?::(?=\s)|：)"
)
_VALUE_WIDTH = 80
_VALUE = re.compile(r"(?:[\d@/]|\w\.\w)\S*\s*$")
_ATTACHMENT = re.compile(
    r"(?<!\S)-\s(?=[\w.-]{1,60}\.(?:pdf|docx?|xlsx?|pptx?|txt|rtf|csv|html?|zip|jpe?g|png|gif)"
    r"(?:\s-\s|\s?<<|$))"
)
_INCLUDED = re.compile(r"<<\s?File:[^<>]{1,200}>>")
_LINK = re.compile(
    rf"(?<!\S)(?:(?:https?://|www\.)[^\s<>()\[\]]*[\w/]|{_ADDRESS})\s+(?=([A-Z]\w*))"
)
_BANNER = re.compile(r"(?<!\S)[-=*~]{4,}+\s?[^-=*~\s][^=*~]{1,100}[-=*~]{4,}+(?!\S)")

_GREETING = re.compile(
    r"(?:^|(?<=[.!?])\s+|(?<=\d\s[AP]M)\s+)(?:Dear|Hi|Hello|Hey|Good\s[Mm]orning"
    rf"|Good\s[Aa]fternoon|Good\s[Ee]vening)(?:\s(?:all|everyone|there|{_NAME})){{0,3}}+"
    r"(?:,|(?P<dash>\s?-))\s+(?=([A-Z]\w*))"
)
# "Hey Jude, I think, is a song": what stands between two commas is no message.
_BETWEEN_COMMAS = re.compile(r"(?:The|An?|I)(?:\s[\w'’-]{1,30}){1,3}+,")
_FAREWELL = re.compile(
    r"(?:^|(?<=[.!?)>])\s+)(?:(?:(?:Best|Kind|Kindest|Warm|Warmest)\s)?"
    r"(?:Regards|regards)|Sincerely|Respectfully|Yours\s(?:truly|sincerely|faithfully)"
    r"|(?P<light>Cheers|Thanks)),\s+(?=[A-Z])"
)
_SIGNATURE = re.compile(
    r"[A-Z][\w'-]*+(?:\s[A-Z][\w.'-]*+){0,3}+\s*+(?:$|[^\w\s,]|,(?!\s(?:[a-z]|I\b)))"
)
_POSTSCRIPT = re.compile(r"(?<=\s)(?:PS\s?[-:]|P\.\s?S\.)\s*(?=[A-Z])")
_SIGNED_WIDTH = 80
# Behind the letter, or behind who signed it; but "Dr. Lee" has signed nothing.
_SIGNED = re.compile(
    r"(?:[!?)\]>]|(?P<word>\w+)\.|(?:[Rr]egards|Sincerely|Respectfully|Best|Love|Cheers|Thanks"
    r"|Yours|truly|sincerely|faithfully),|\w@[\w.-]+)(?:\s[A-Z][\w'-]{0,20}+){0,4}+\s+$"
)

# One look tells most texts from letters; a search for plain words is the quickest.
_SIGNS = (
    *("@", "://", "www.", "/", "----", "====", "****", "~~~~", "<<", " - ", " PS", "P.S", "P. S"),
    *("egards,", "Sincerely,", "Respectfully,", "Cheers,", "Thanks,", "Yours "),
    *("Dear ", "Hi ", "Hi,", "Hello", "Hey", "Good "),
)


def lines(text: str) -> set[int]:
    """Where the lines of a letter begin, the first line of a text left out.

    They are told by their form: a time stamp behind the name of who wrote (`Ann Lee 08/16/2000
    12:05 PM`), an address or number behind its label, the name of an attached file, a greeting, a
    farewell, a postscript, a banner between two rows of signs, and an address before a word that
    begins a sentence.

    Args:
        text: running text without white space at its ends.

    Returns:
        Places, 0 and the end of the text left out.

    >>> sorted(lines("Ann Lee 08/16/2000 12:05 PM Can you come?"))
    [8, 27]
    """
    labelled = text.count(": ") + text.count("：") > 1
    if not labelled and not any(sign in text for sign in _SIGNS):
        return set()
    places = {*_stamped(text), *_fields(text), *_salutations(text)}
    for found in _BANNER.finditer(text):
        places.update(found.span())
    starters = abbreviations().starters
    places.update(found.end() for found in _LINK.finditer(text) if found[1].lower() in starters)
    attached = [found.start() for found in _ATTACHMENT.finditer(text)]
    # One file behind a dash may be an apposition, several are a list.
    places.update(attached if len(attached) > 1 else ())
    places.update(found.end() for found in _INCLUDED.finditer(text))
    return {place for place in places if 0 < place < len(text)}


def _stamped(text: str) -> Iterator[int]:
    """Around a time stamp, where nothing but the name of who wrote stands before it."""
    since = 0
    for stamp in _STAMP.finditer(text):
        before = text[max(since, stamp.start() - _SENDER_WIDTH) : stamp.start()]
        sender = _SENDER.fullmatch(_SENTENCE_BEFORE.sub("", before)) or _SENDER.fullmatch(before)
        if sender and (not sender["name"] or _MESSAGE.match(text, stamp.end())):
            yield stamp.end()
            if not sender["at"]:
                yield stamp.start()
        since = stamp.end()


def _fields(text: str) -> Iterator[int]:
    """Behind an address that a label announces, and before every label but the first."""
    yield from (found.end() for found in _ADDRESS_FIELD.finditer(text))
    labels = list(_FIELD.finditer(text))
    for label in labels[1:]:
        before = text[max(0, label.start() - _VALUE_WIDTH) : label.start()]
        if _VALUE.search(before) and not before.rstrip().endswith((",", "，", "、")):
            yield label.start()


def _salutations(text: str) -> Iterator[int]:
    """Behind greetings and farewells, before postscripts."""
    for found in _GREETING.finditer(text):
        # "Hi, Ann" and "Hi, I am" go on; "Hi, There is" is a new line.
        new = found[2].lower() in abbreviations().starters
        new = new and (found[2] != "I" or found[0].lstrip().startswith("Dear"))
        if found["dash"] or (new and not _BETWEEN_COMMAS.match(text, found.end())):
            yield found.end()
    for found in _FAREWELL.finditer(text):
        if not found["light"] or _SIGNATURE.match(text, found.end()):
            yield found.end()
    for found in _POSTSCRIPT.finditer(text):
        signed = _SIGNED.search(text[max(0, found.start() - _SIGNED_WIDTH) : found.start()])
        word = (signed["word"] or "").lower() if signed else ""
        if signed and word not in abbreviations().never_end and len(word) != 1:
            yield found.start()
