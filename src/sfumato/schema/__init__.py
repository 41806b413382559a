"""Describe: the role and scale of every attribute, and which single cells are sensitive."""
