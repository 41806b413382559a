"""Words by language: everything that reports and pages say, in named entries with named fields."""

from sfumato.words.entries import LANGUAGES, Words, words_in

__all__ = ["LANGUAGES", "Words", "words_in"]
