"""Contracts that all data types share: models, algorithms, audits, recipes, releases."""
