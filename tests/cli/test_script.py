"""The command as a process of its own."""

import os
import signal
import subprocess
import sys
import time

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


# Says when the command can hear Ctrl-C, and waits there.
WAITING = """
import signal, sys, time

class Wait:
    def find_spec(self, name, *_):
        if name == {name!r}:
            print("here", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Wait())
sys.argv = ["firstfactor", "--version"]
signal.signal(signal.SIGINT, {before})
from firstfactor.cli.script import main
main()
"""


def interrupt(name, before="signal.default_int_handler"):
    code = WAITING.format(name=name, before=before)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        running = process.poll() is None
        process.kill()
        return running, process.returncode, process.stderr.read()


@pytest.mark.parametrize("name", ["firstfactor.cli.main", "firstfactor.parameters", "firstfactor.cli.run"])
def test_ctrl_c_while_the_command_is_loaded_is_silent(name):
    assert interrupt(name) == (False, 130, "")


def test_ctrl_c_that_is_ignored_stays_so():
    running, _, said = interrupt("firstfactor.cli.main", "signal.SIG_IGN")
    assert running and said == ""
    running, _, said = interrupt("firstfactor.cli.commands", "signal.SIG_IGN")
    assert running and said == ""


# What some packages do with Ctrl-C.
SWALLOWED = {
    "panic": "raise Panic from None",
    "deleted": "Deleted()",
    "printed by C": "sys.excepthook(*sys.exc_info())",
    "told as an error": "with exit_on_error(debug=False): raise ImportError('failed to import') from None",
    "nothing": "raise",
}


@pytest.mark.parametrize("swallow", SWALLOWED)
def test_ctrl_c_ends_the_command_whatever_other_packages_make_of_it(swallow):
    code = f"""
import os, signal, sys, time
from firstfactor.cli import main
from firstfactor.cli.errors import exit_on_error

class Panic(BaseException):
    pass

class Deleted:
    def __del__(self):
        raise KeyboardInterrupt

def run(_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        {SWALLOWED[swallow]}
    time.sleep(10)

signal.signal(signal.SIGINT, signal.default_int_handler)
main._run_typed = run
main.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
