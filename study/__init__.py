"""The paper's simulation and real-data study, run again with today's software.

Imports go one way through the folders, each of which may use those before it, and none after it:

    data ─► methods ─► runs ─► scores ─► paper ─► pages ─► __main__

`data` draws or reads tables, `methods` answers them, `runs` stores the answers row by row in `results/`, `scores` holds
stored rows against the truth, `paper` against what the paper prints and says, and `pages` shows what comes of it.
"""
