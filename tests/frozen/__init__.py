"""Releases and texts with fixed seeds, secrets and dates: moving code must not change any of them."""

import sfumato

sfumato.__version__ = "0.1.0"  # releases record the version that wrote them, which changes with every commit
