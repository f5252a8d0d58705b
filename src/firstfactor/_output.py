"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let ``write`` fill a file that takes its place only when complete.

    It is made next to where it goes, so that the last move is one step; an error or an interrupt leaves what was
    there before.
    """
    target = Path(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            write(file)
            file.flush()
            os.chmod(file.name, _default_mode(target))
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _default_mode(target: Path) -> int:
    """Return the permissions of the file to be replaced, or those a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
