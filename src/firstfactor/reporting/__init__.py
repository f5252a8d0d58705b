"""Results as a page, as files and as text."""
