"""The files that paths stand for: one, several, all in a folder, or those that a pattern matches.

A folder stands for the files in it: links to folders are not followed, and links to files only within it. Files that
would be left out in this way are an error. A pattern stands for the files that it matches in a shell.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

# One file or more: a path, a folder or a pattern; or several of these.
Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

STANDARD_INPUT = "-"


def are_paths(data: Any) -> bool:
    """Return whether these are paths instead of a table."""
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in data)
    return several or isinstance(data, (str, os.PathLike))


def find_files(data: Paths) -> tuple[str, ...]:
    """Return the files that paths stand for: those of a folder or a pattern sorted, others in the order given.

    Whether a file that is named exists is found out when it is opened.
    """
    names = [os.fspath(each) for each in ([data] if isinstance(data, (str, os.PathLike)) else data)]
    if not names:
        raise ValueError("data: the list of files is empty. Name at least one.")
    if len(names) > 1 and STANDARD_INPUT in names:
        raise ValueError("data: standard input (-) cannot be read together with files. Name either it or files.")
    files = [file for name in names for file in _meant(name)]
    _refuse_twice(files)
    return tuple(files)


def _meant(name: str) -> list[str]:
    """Return the files that one path stands for; it is a pattern only if nothing has that very name."""
    if os.path.isdir(name):
        return _in_folder(name)
    if name == STANDARD_INPUT or os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(_match_below(Path(name)) if "**" in Path(name).parts else glob.glob(name))
    if not found:
        raise ValueError(f"data: no file matches the pattern {name!r}. Correct it, or name the files.")
    return [file for path in found for file in (_in_folder(path) if os.path.isdir(path) else [path])]


def _match_below(pattern: Path) -> Iterator[str]:
    """Yield the files that a pattern with ** matches, which stands for folders, but not for links to them."""
    fixed = next(i for i, part in enumerate(pattern.parts) if glob.has_magic(part))
    top, wanted = os.path.join("", *pattern.parts[:fixed]), pattern.parts[fixed:]
    for parent, folders, names in os.walk(top or os.curdir):
        folders[:] = [name for name in folders if not _is_hidden(name) or any(map(_is_hidden, wanted))]
        inside = Path(os.path.relpath(parent, top or os.curdir)).parts
        yield from (os.path.join(top, *inside, name) for name in names if _matches((*inside, name), wanted))


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path matches a pattern, part by part; hidden names match only parts that begin with a dot."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (not _is_hidden(parts[0]) and _matches(parts[1:], pattern))
    hidden = _is_hidden(parts[0]) and not _is_hidden(pattern[0])
    return not hidden and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _in_folder(folder: str) -> list[str]:
    """Return all files in a folder and in those below it, which must be of one format as far as their names tell."""
    files = sorted(_walk(folder), key=lambda file: Path(file).parts)
    if not files:
        raise ValueError(
            f"data: the folder {folder!r} holds no files; names that begin with . or _ do not count. Name another."
        )
    _refuse_formats(folder, files)
    return files


def _refuse_formats(folder: str, files: Sequence[str]) -> None:
    """Refuse files of several formats, as far as their names tell: one may be no part of the table."""
    from .formats import named_format  # loads polars, which the command does not need at once

    kinds = {file: named_format(file) for file in files}
    one = files[0]
    other = next((file for file in files if kinds[file] != kinds[one]), None)
    if other is None:
        return
    said = [
        f"{os.path.relpath(file, folder)} is {kind.name if (kind := kinds[file]) else 'of none that its name tells'}"
        for file in (one, other)
    ]
    pattern = os.path.join(folder, "**", f"*{Path(one if kinds[one] else other).suffix}")
    raise ValueError(
        f"data: the folder {folder!r} holds files of different formats: {', '.join(said)}. Say which to read with a "
        f"pattern such as {pattern!r}."
    )


def _walk(folder: str) -> list[str]:
    """Return the files in a folder and in those below it; refuse links that lead out of it."""
    files, links, seen = list[str](), list[str](), set[str]()
    for parent, folders, names in os.walk(folder, onerror=_raise):
        seen.add(os.path.realpath(parent))
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        files += (os.path.join(parent, name) for name in names if not _is_passed_over(name))
        links += filter(os.path.islink, (os.path.join(parent, name) for name in folders))
    top = os.path.join(os.path.realpath(folder), "")
    out = [link for link in links if os.path.realpath(link) not in seen]
    out += [file for file in files if os.path.islink(file) and not os.path.realpath(file).startswith(top)]
    if out:
        raise ValueError(
            f"data: the folder {folder!r} holds a link that leads out of it: {os.path.relpath(out[0], folder)!r} to "
            f"{os.path.realpath(out[0])!r}. Name that as well, or instead, or remove the link."
        )
    return files


def _raise(error: OSError) -> None:
    """Report a folder that cannot be listed, where the default is to pass over it."""
    raise error


def _is_passed_over(name: str) -> bool:
    """Return whether a file or folder is not part of the table: hidden, or notes of other programs about it."""
    return _is_hidden(name) or (name.startswith("_") and "=" not in name)


def _refuse_twice(files: Sequence[str]) -> None:
    """Refuse files of which one is the same as another: its rows would count twice."""
    first: dict[str, str] = {}
    for file in files:
        real = os.path.realpath(file)
        if real in first:
            before = first[real]
            same = f"{file!r} is named twice" if file == before else f"{before!r} and {file!r} are the same file"
            raise ValueError(f"data: {same}. Leave out one.")
        first[real] = file


def short_names(files: Sequence[str]) -> list[str]:
    """Return names of files for messages: with the folders in which files differ."""
    root = _common_folder(files)
    return [os.path.relpath(os.path.abspath(file), root) for file in files]


def name_all(files: Sequence[str]) -> str:
    """Return a name for several files: the first and the last of a folder, or the folder that holds several folders."""
    names = short_names(files)
    if any(os.path.dirname(name) for name in names):
        return f"{os.path.basename(_common_folder(files)) or os.sep} ({len(names):,} files)"
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names):,} files)"


def _common_folder(files: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
