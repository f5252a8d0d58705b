"""Files are written whole, through links, with the usual permissions, and leave nothing behind."""

import contextlib
import errno
import os
import resource

import pytest
from scripts import run_script

from firstfactor._utils.atomic_write import temporary_file, write_whole
from firstfactor.cli.errors import exit_on_error
from firstfactor.cli.outputs import Outputs


def write(path, content=b"new"):
    write_whole(path, lambda file: file.write(content))


@contextlib.contextmanager
def full_disk(room):
    """Let no file become larger, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link, dangling = tmp_path / "elsewhere" / "file", tmp_path / "link", tmp_path / "dangling"
    target.write_bytes(b"old")
    link.symlink_to(target)
    dangling.symlink_to("elsewhere/new file")
    write(link)
    write(dangling)
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert dangling.is_symlink() and (tmp_path / "elsewhere" / "new file").read_bytes() == b"new"


def test_a_link_into_a_folder_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "link.csv").symlink_to("nowhere/file.csv")
    with pytest.raises(ValueError, match=r"--csv: there is no folder '.*nowhere'\. Make it first\."):
        Outputs(csv=tmp_path / "link.csv").check()


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_new_files_get_the_usual_permissions_and_the_mask_is_left_alone(tmp_path, monkeypatch, mask):
    before = os.umask(mask)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", lambda _: pytest.fail("the mask of the whole process was changed"))
            write(tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask


def test_temporary_copies_are_private(tmp_path):
    with temporary_file(tmp_path) as file:
        assert os.stat(file.name).st_mode & 0o777 == 0o600
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_with_the_file_and_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with full_disk(100), pytest.raises(OSError, match=r"File too large: .*file'") as failure:
        write(path, bytes(10**6))
    assert failure.value.filename == str(path)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"


def test_a_folder_that_cannot_be_written_to_is_told_with_the_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"file/below'"):
        write(tmp_path / "file" / "below")


def test_what_a_killed_process_left_goes_away_and_what_others_use_stays(tmp_path):
    run_script(f"""
        import os
        from firstfactor._utils.atomic_write import temporary_file
        context = temporary_file({str(tmp_path)!r})
        context.__enter__().write(b"half")
        os._exit(0)
    """)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".firstfactor-")
    with temporary_file(tmp_path) as used:
        assert not left.exists()
        write(tmp_path / "file")
        assert {path.name for path in tmp_path.iterdir()} == {"file", os.path.basename(used.name)}


def test_too_little_memory_is_told_however_it_is_noticed(capsys):
    for error in (MemoryError(), OSError(errno.ENOMEM, "Cannot allocate memory")):
        with pytest.raises(SystemExit), exit_on_error(debug=False):
            raise error
        assert capsys.readouterr().err.startswith("error: there is not enough memory. Use fewer rows (--sample)")
