"""Engines that scan tables: memory, DuckDB, Spark."""
