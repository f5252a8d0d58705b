"""Which files are meant: one, several, all in a folder, or those that a pattern matches."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from .file_format import named_format

# What stands for one file or more: a path, a folder or a pattern; or several of these.
Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

STANDARD_INPUT = "-"


def are_paths(data: Any) -> bool:
    """Tell whether these are paths, and no table."""
    several = isinstance(data, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in data)
    return several or isinstance(data, (str, os.PathLike))


def find_files(data: Paths) -> tuple[str, ...]:
    """The files that are meant: those of a folder or a pattern sorted, others in the order given.

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
    """The files that one name stands for; it is a pattern only if there is nothing of that very name."""
    if os.path.isdir(name):
        return _in_folder(name)
    if name == STANDARD_INPUT or os.path.lexists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if "**" in name:  # matches folders and, by itself, what is in them
        found = [path for path in found if os.path.isfile(path)]
    if not found:
        raise ValueError(f"data: no file matches the pattern {name!r}. Correct it, or name the files.")
    return [file for path in found for file in (_in_folder(path) if os.path.isdir(path) else [path])]


def _in_folder(folder: str) -> list[str]:
    """All files in a folder and in those below it, which must be of one format as far as their names tell."""
    files = sorted(_walk(folder), key=lambda file: Path(file).parts)
    if not files:
        raise ValueError(
            f"data: the folder {folder!r} holds no files; names that begin with . or _ do not count. Name another."
        )
    _refuse_formats(folder, files)
    return files


def _refuse_formats(folder: str, files: Sequence[str]) -> None:
    """Refuse files of several formats, as far as their names tell: one may be no part of the table."""
    kinds = {file: named_format(file) for file in files}
    one = files[0]
    other = next((file for file in files if kinds[file] != kinds[one]), None)
    if other is None:
        return
    said = [
        f"{os.path.relpath(file, folder)} is {kinds[file] or 'of none that its name tells'}" for file in (one, other)
    ]
    pattern = os.path.join(folder, "**", f"*{Path(one if kinds[one] else other).suffix}")
    raise ValueError(
        f"data: the folder {folder!r} holds files of different formats: {', '.join(said)}. Say which to read with a "
        f"pattern such as {pattern!r}."
    )


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        yield from (os.path.join(parent, name) for name in names if not _is_passed_over(name))


def _raise(error: OSError) -> None:
    """Report a folder that cannot be listed, where the default is to pass over it."""
    raise error


def _is_passed_over(name: str) -> bool:
    """Tell whether a file or folder is none of the table: hidden, or what other programs note about it."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


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
    """What to call each file in messages: its name, with the folders in which files differ."""
    root = _common_folder(files)
    return [os.path.relpath(os.path.abspath(file), root) for file in files]


def name_all(files: Sequence[str]) -> str:
    """What to call several files together: the first and the last of a folder; of several folders, what holds them."""
    names = short_names(files)
    if any(os.path.dirname(name) for name in names):
        return f"{os.path.basename(_common_folder(files)) or os.sep} ({len(names):,} files)"
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names):,} files)"


def _common_folder(files: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
