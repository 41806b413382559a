"""Releases and texts with fixed seeds, secrets and dates: moving code must not change any of them."""
