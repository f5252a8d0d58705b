"""Compiled searches: arrays in, arrays out, no options and no checks."""
