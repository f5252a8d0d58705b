"""``firstfactor warm-up`` where something stands in its way; what it compiles is in ``test_compiling.py``."""

import re
import signal
import subprocess
import time

import pytest
from command import CLEAN, COMMAND, PATIENCE, run

pytestmark = pytest.mark.slow


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """Before anything is compiled. Not even root can make a folder below a file."""
    (tmp_path / "file").write_text("")
    failed = run("warm-up", NUMBA_CACHE_DIR=str(tmp_path / "file" / "kernels"))
    assert (failed.returncode, failed.stdout) == (2, b"")
    assert failed.stderr.decode() == (
        f"error: compiled functions cannot be kept: File exists: {tmp_path / 'file'}. "
        "Set NUMBA_CACHE_DIR to a writable folder.\n"
    )


def test_where_compiling_is_switched_off_it_says_so(tmp_path):
    failed = run("warm-up", NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert failed.returncode == 2 and failed.stderr.startswith(b"error: NUMBA_DISABLE_JIT is set")
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_it_and_keeps_what_is_done(tmp_path):
    """Soon after the first function is kept, the next one is being compiled."""

    def kept():
        return sorted(tmp_path.rglob("*.nbc"))

    with subprocess.Popen(
        [COMMAND, "warm-up"],
        env=CLEAN | {"NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell may have it ignored
    ) as command:
        deadline = time.monotonic() + PATIENCE
        while not kept() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        pressed = time.monotonic()
        command.send_signal(signal.SIGINT)
        out, complaint = command.communicate(timeout=PATIENCE)
        assert time.monotonic() - pressed < 5
    assert (command.returncode, out, complaint) == (130, b"", b"interrupted\n")
    assert 0 < len(kept()) < 15
    assert not list(tmp_path.rglob("*.tmp*"))


def test_the_help_says_what_it_is_for():
    shown = " ".join(run("warm-up", "--help").stdout.decode().split())
    assert "Compile all functions once" in shown and "RUN firstfactor warm-up" in shown
    assert re.search(r"warm-up\s+Compile all functions once", run("--help", COLUMNS="100").stdout.decode())
