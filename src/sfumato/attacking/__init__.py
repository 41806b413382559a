"""Attacks on published tables: what an adversary gets right, beside guessing and beside a control."""
