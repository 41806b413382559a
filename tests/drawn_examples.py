"""How many examples Hypothesis draws, and how a test asks for more or fewer."""

from __future__ import annotations

from hypothesis import settings

MODERATE = 50
THOROUGH = 1000


def examples(usual: int) -> settings:
    """Draw so many in the test command, and in a thorough run as many times more as all other tests do."""
    return settings(max_examples=usual * settings.default.max_examples // MODERATE)
