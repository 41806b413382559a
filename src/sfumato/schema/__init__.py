"""Describe: what role and scale every attribute has, and which single cells are sensitive."""
