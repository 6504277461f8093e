"""Checks and builds the book: see scripts/book."""
