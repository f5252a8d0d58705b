"""Compiled searches on plain arrays, without options or checks."""
