# Tasks. Each is one line that also works in a shell with .venv/bin in PATH; `just --list` explains them.
export PATH := justfile_directory() / ".venv" / "bin" + ":" + env("PATH")

# Install what is missing and run all checks and tests, as continuous integration does
test:
    bash scripts/test

# Run the quick tests of a folder or file: `just quick tests/models`
quick +paths="tests":
    pytest -m "not slow" {{ paths }}

# Run all tests of a folder or file
full +paths="tests":
    pytest {{ paths }}

# Format and fix
fix:
    ruff format && ruff check --fix

# Check format, style, spelling, types, layers and workflow
lint:
    bash scripts/lint

# Check that stubs, packages and public names agree
stubs:
    pytest -q tests/test_public_names.py

# Serve the documentation while you write
docs:
    mkdocs serve

# Check that releases, names and messages are as they were
freeze:
    python scripts/freeze

# Add a news fragment: `just news 34.added.md`
news name:
    towncrier create {{ name }}

# Build wheel and source distribution and check them
build:
    python -m pip install -q --group release && python -m build && twine check --strict dist/*

# Run what takes hours: other dependencies, more random examples, benchmark tables, benchmarks
long-run *arguments:
    scripts/long-run {{ arguments }}
