"""A seeded fuzzer of tables and of files.

Every case is made from a kind and one integer, runs in a child process, and ends in one of two ways: a result whose
numbers do not contradict each other, or an error in our own words. Anything else is a failure.

    python -m tests.fuzz --minutes 10                # tables and files, until the time is over
    python -m tests.fuzz --tables 100000 --workers 2
    python -m tests.fuzz --minutes 10 --boundscheck  # slower to start; sees what reads or writes beyond an array
    python -m tests.fuzz --replay tables:12345       # what the case was, and how it ended
"""
