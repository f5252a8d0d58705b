"""A file in, a table out."""
