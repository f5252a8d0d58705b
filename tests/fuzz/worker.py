"""The child process: reads which case to run, line by line, and answers each with a line of JSON.

A crash ends this process and nothing else. Whatever libraries print goes to standard error; answers have a channel of
their own.
"""

import dataclasses
import faulthandler
import json
import os
import resource
import sys

# Bytes that a case may take: tables are tiny.
MOST_MEMORY = 4 * 2**30

READY = "ready"


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    from .cases import make_case
    from .classify import quiet, run_case

    answers.write(f"{READY}\n")
    for line in sys.stdin:
        with quiet():
            case = make_case(line.strip())
        answers.write(json.dumps(dataclasses.asdict(run_case(case))) + "\n")


if __name__ == "__main__":
    main()
