"""Run the command line with `python -m sfumato`."""

from __future__ import annotations

from sfumato.cli._application import main

if __name__ == "__main__":
    main()
