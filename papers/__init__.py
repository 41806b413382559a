"""Reproductions of the experiments of the source texts: `python -m papers`."""
