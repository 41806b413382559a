"""Words by language: everything that reports and pages say, in named entries with named fields."""

from sfumato.words.entries import LANGUAGES, Messages, check_language, load_messages
from sfumato.words.sentences import LocalizedText, quote_names

__all__ = ["LANGUAGES", "LocalizedText", "Messages", "check_language", "quote_names", "load_messages"]
