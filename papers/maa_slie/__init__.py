"""Experiments of MAA-SLIE."""
