"""Results on disk: JSON with few digits and one record a line, so that changes can be read."""

import json


def store(path, found):
    """Write results with four digits, one record a line."""
    lines = json.dumps(shorten(found), separators=(",", ":"), ensure_ascii=False)
    path.write_text(lines.replace('},{"', '},\n{"').replace('[{"', '[\n{"') + "\n", encoding="utf-8")


def shorten(value):
    """The same with four digits of every number."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: shorten(each) for key, each in value.items()}
    return [shorten(each) for each in value] if isinstance(value, (list, tuple)) else value
