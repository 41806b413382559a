"""The command line: one module per verb, which reads its options, calls the library and prints."""

from __future__ import annotations

from sfumato.cli._application import app, main

__all__ = ["app", "main"]
