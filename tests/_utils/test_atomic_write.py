"""Files are written whole, through links, with the usual permissions, and leave nothing behind."""

import contextlib
import errno
import fcntl
import os
import resource

import pytest
from command import run_here
from scripts import run_script

from firstfactor._utils.atomic_write import follow_links, private_folder, temporary_file, write_whole
from firstfactor.cli.errors import exit_on_error
from firstfactor.cli.run import Outputs


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


NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make files of another user")
NOBODY = 65534


@pytest.fixture
def shared(tmp_path):
    """A folder where anybody can make files, such as /tmp, and a file that is elsewhere."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_bytes(b"precious")
    return folder


def plant(link, target):
    link.symlink_to(target)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)


@NEEDS_ROOT
@pytest.mark.parametrize("way", ["file", "folder", "link to it", "relative"])
def test_nothing_is_written_through_the_link_of_another_user(shared, way):
    precious, path = shared.parent / "precious", shared / "out"
    if way == "file":
        plant(path, precious / "file")
    elif way == "relative":
        plant(path, "../precious/file")
    elif way == "folder":
        plant(path, precious)
        path = path / "file"
    else:
        plant(path, precious / "file")
        path = shared.parent / "own"
        path.symlink_to(shared / "out")
    before = set(shared.iterdir())
    with pytest.raises(PermissionError, match=r"shared/out is a link that another user made .* name another file"):
        write(path)
    finished = run_here("demo", "ishigami", "--csv", path)
    assert finished.returncode == 2 and finished.stdout == b""
    assert finished.stderr.startswith(b"error: --csv: ") and b"another user made" in finished.stderr
    assert (precious / "file").read_bytes() == b"precious" and set(shared.iterdir()) == before


@NEEDS_ROOT
def test_links_of_others_count_only_where_anybody_can_make_them(shared):
    plant(shared / "out", shared.parent / "precious" / "file")
    shared.chmod(0o755)
    write(shared / "out")
    shared.chmod(0o1777)
    os.chown(shared, NOBODY, NOBODY)  # who owns the folder decides what is in it
    write(shared / "out", b"newer")
    assert (shared.parent / "precious" / "file").read_bytes() == b"newer"


@NEEDS_ROOT
def test_the_file_of_another_user_does_not_make_ours_wider(shared):
    (shared / "out").touch()
    (shared / "out").chmod(0o666)
    os.chown(shared / "out", NOBODY, NOBODY)
    write(shared / "out")
    status = (shared / "out").stat()
    assert status.st_uid == 0 and status.st_mode & 0o022 == 0


def test_links_are_followed_as_the_system_does(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "up").symlink_to("a/b")
    (tmp_path / "a" / "end").symlink_to("./b/../file")
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.chdir(tmp_path)
    for path in ("up/../end", "up/new", "./a/file", "a/b/..", "a/none/file"):
        assert str(follow_links(path)) == os.path.realpath(path)
    with pytest.raises(OSError, match="loop") as failure:
        follow_links("loop")
    assert failure.value.errno == errno.ELOOP


LEFT = ".firstfactor-0123456789ab.part"


def _make_fifo(path):
    os.mkfifo(path)


def _make_link(path):
    (path.parent / "pipe").unlink(missing_ok=True)
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


def _make_link_to_file(path):
    (path.parent / "kept").write_bytes(b"kept")
    path.symlink_to("kept")


@pytest.mark.parametrize("make", [_make_fifo, _make_link, _make_link_to_file, os.mkdir])
def test_what_only_has_the_name_of_a_leftover_is_left_alone(tmp_path, make):
    make(tmp_path / LEFT)
    before = {path.name for path in tmp_path.iterdir()}
    finished = run_here("demo", "ishigami", "--csv", tmp_path / "x.csv", "--quiet")
    assert finished.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == before | {"x.csv"}


@NEEDS_ROOT
def test_the_leftovers_of_another_user_are_left_alone(tmp_path):
    (tmp_path / LEFT).touch()
    os.chown(tmp_path / LEFT, NOBODY, NOBODY)
    write(tmp_path / "file")
    assert (tmp_path / LEFT).exists()


def test_a_lock_of_somebody_else_is_not_waited_for(tmp_path, monkeypatch):
    lock, taken = fcntl.flock, []

    def first_is_taken(number, how):
        if not taken:
            taken.append(number)
            assert how & fcntl.LOCK_NB
            raise BlockingIOError
        lock(number, how)

    monkeypatch.setattr(fcntl, "flock", first_is_taken)
    write(tmp_path / "file")
    assert taken and [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_private_folder_is_gone_at_the_end_and_those_of_dead_processes_at_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, empty, other = (tmp_path / name for name in ("firstfactor-app-dead", "firstfactor-app-empty", "mine"))
    for folder in (dead, empty, other):
        folder.mkdir()
    (dead / "lock").touch()
    (dead / "table.csv").touch()
    link = tmp_path / "firstfactor-app-link"
    link.symlink_to(other)
    (other / "lock").touch()
    with private_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700 and not dead.exists() and not empty.exists()
        with private_folder() as second:
            assert folder.exists() and second != folder
        (folder / "table.csv").touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["firstfactor-app-link", "mine"]
    assert (other / "lock").exists()
