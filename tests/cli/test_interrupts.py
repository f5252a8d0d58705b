"""Ctrl-C from the first line of the command to its last."""

import signal
import subprocess
import sys
import time

import pytest

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
from firstfactor.cli.main import main
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


@pytest.mark.parametrize("name", ["firstfactor.cli.commands", "firstfactor.settings", "firstfactor.cli.run", "typer"])
def test_ctrl_c_while_the_command_is_loaded_is_told_in_a_word(name):
    assert interrupt(name) == (False, 130, "interrupted\n")


@pytest.mark.parametrize("name", ["firstfactor.cli.main", "firstfactor.cli.commands"])
def test_ctrl_c_that_is_ignored_stays_so(name):
    running, _, said = interrupt(name, "signal.SIG_IGN")
    assert running and said == ""


@pytest.mark.parametrize("before", ["default_int_handler", "SIG_IGN"])
def test_ctrl_c_while_python_ends_has_no_traceback(before):
    code = f"""
import atexit, signal, sys
signal.signal(signal.SIGINT, signal.{before})
atexit.register(lambda: print(signal.getsignal(signal.SIGINT)))
sys.argv = ["firstfactor", "--version"]
from firstfactor.cli.main import main
main()
"""
    last = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.splitlines()[-1]
    assert last == str(signal.SIG_IGN if before == "SIG_IGN" else signal.SIG_DFL)


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
from firstfactor.cli import commands, main
from firstfactor.cli.errors import exit_on_error

class Panic(BaseException):
    pass

class Deleted:
    def __del__(self):
        raise KeyboardInterrupt

def run(**_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        {SWALLOWED[swallow]}
    time.sleep(10)

signal.signal(signal.SIGINT, signal.default_int_handler)
commands.app = run
main.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
