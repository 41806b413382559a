"""Experiments of secure integration."""
