"""The workbench: a local web page from a file to a release."""
