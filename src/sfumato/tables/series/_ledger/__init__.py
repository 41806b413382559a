"""The file of a series: entries, hash chain, pseudonyms."""
