"""Searches for nearest neighbours."""
