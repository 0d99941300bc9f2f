"""Generators of the tables in the documents."""
