"""Words by language: everything that reports and pages say, in named entries with named fields."""

from sfumato.words.entries import LANGUAGES, Words, check_language, words_in
from sfumato.words.sentences import Sentence, quoted

__all__ = ["LANGUAGES", "Sentence", "Words", "check_language", "quoted", "words_in"]
