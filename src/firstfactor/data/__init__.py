"""A table in, arrays out: columns, factors, response."""
