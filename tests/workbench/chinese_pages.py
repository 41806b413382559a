"""What a page in Chinese still says in English: the text and the attributes that people read or hear."""

from __future__ import annotations

import re
from html.parser import HTMLParser

READ = ("alt", "aria-label", "placeholder", "title", "data-label")
CODE = ("cite", "code", "kbd", "pre", "script", "style", "option")
SENTENCE = re.compile(r"[A-Za-z][A-Za-z'-]*(?:,? +[A-Za-z][A-Za-z'-]*){2,}")


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.inside, self.said = [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.said += [given[name] for name in READ if given.get(name)]
        self.said += [value for name, value in attrs if name.startswith("data-") and value and value[0] not in "[{"]
        if tag not in ("meta", "link", "input", "br", "img", "hr"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not set(self.inside) & set(CODE):
            self.said.append(data)


def english_in(page: str) -> list[str]:
    """Return the runs of three English words or more."""
    reader = _Reader()
    reader.feed(page)
    return [each for said in reader.said for each in SENTENCE.findall(" ".join(said.split()))]
