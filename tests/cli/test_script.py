"""The command as a process of its own."""

import os
import subprocess
import sys

import pytest

import firstfactor

VERSION = f"firstfactor {firstfactor.__version__}\n"


def run(before="", *, argument="--version"):
    code = (
        f"import atexit, gc, sys\nsys.argv = ['firstfactor', {argument!r}]\n{before}\n"
        "from firstfactor.cli.script import main\ntry:\n    main()\nfinally:\n    print('freed')\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_it_ends_the_process_with_its_code_and_all_that_was_printed():
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, VERSION, "")
    wrong = run(argument="--nothing")
    assert (wrong.returncode, wrong.stdout) == (2, "") and wrong.stderr.startswith("error: No such option")


def test_what_is_registered_for_the_end_is_done():
    assert run("atexit.register(print, 'removed')").stdout == VERSION + "removed\n"


def test_a_temporary_folder_is_removed(tmp_path):
    run(f"import tempfile; folder = tempfile.TemporaryDirectory(dir={str(tmp_path)!r})")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("watch", ["setprofile", "settrace"])
def test_who_measures_the_process_sees_its_end(watch):
    assert run(f"sys.{watch}(lambda *_: None)").stdout == VERSION + "freed\n"


def test_a_message_in_place_of_a_code_is_printed():
    missing = run("sys.modules['typer'] = None")
    assert missing.returncode == 1 and missing.stderr.startswith("error: the command firstfactor needs typer")


def test_a_closed_output_is_no_error():
    code = "from firstfactor.cli.script import leave\nprint('lost')\nleave(3)"
    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=buffered) as process:
        process.stdout.close()
    assert process.returncode == 3
