"""Values of every parameter: ones that are allowed, in all combinations, and now and then ones that are not."""

import numpy as np

from firstfactor import FIRST

NOT_NUMBERS = (None, "2", "", [], [2], {}, object(), np.nan, np.inf, -np.inf, 1j, True, np.array([2, 3]))
NOT_NAMES = (None, "", "Full", "FAST", 1.5, [], True, object(), b"full", "paper ", np.nan)
NOT_FLAGS = (None, 0, 1, "True", "", [], 2.0)
SPECS = (
    "no such column",
    -1,
    10**6,
    1.5,
    ["f0", 0],
    [True, False],
    [[0]],
    {0: 1},
    object(),
    [None],
    "",
    [np.nan],
    np.ones(3),
)

# For each parameter what it must not be.
WRONG = {
    "n_neighbors": (*NOT_NUMBERS[1:], 0, 1, -1, 2.0, 2.5, 10**9, 2**70, -(2**70), np.int8(-2)),
    "n_outer": (*NOT_NUMBERS[1:], 0, -1, 0.0, -0.5, 1.5, 10**9, 2**70, 1e-320, np.float32(2)),
    "subsample": NOT_NAMES,
    "forward": (*NOT_NAMES, 0, -1, 2**70),
    "elimination": NOT_NAMES,
    "scale": NOT_FLAGS,
    "categorical": SPECS,
    "task": NOT_NAMES,
    "n_jobs": (0, 1.5, "2", [], True, np.nan, -(10**6)),
    "random_state": (-1, 1.5, "seed", object(), [1.5], np.nan, True, [], {}, np.random.RandomState),
    "estimator": NOT_NAMES[1:],
    "rule": NOT_NAMES,
    "alpha": (*NOT_NUMBERS, 0, 1, 0.0, 1.0, -0.1, 1.1, 1e-320, -0.0),
    "split": NOT_FLAGS,
    "subset": SPECS,
    "noise": NOT_FLAGS,
    "uncertainty": NOT_FLAGS,
    "method": NOT_NAMES,
    "n_pairs": (*NOT_NUMBERS, 0, -1, 1.5),
    "threshold": (*NOT_NUMBERS, 0, 0.5, 0.49, 1.01, -1),
    "selector": ("FIRST", FIRST, 3, object(), []),
}


def _n_neighbors(draw, table):
    n = table.n_rows
    count = draw.choice([2, 2, 3, 3, 4, 5, 10, n // 4, n // 2, n // 2 + 1, n - 1, n, draw.integer(2, n), np.int64(3)])
    most = max(2, min(n, int((1e9 / max(n, 1)) ** 0.5)))  # searches take in proportion to rows × neighbours², at worst
    return count if draw.chance(0.03) else max(2, min(count, most))


def _n_outer(draw, table):
    n = table.n_rows
    counts = [1, 2, 3, 4, 5, n // 4, n // 2, n - 1, n, draw.integer(1, n), np.int64(n // 3)]
    if draw.chance(0.97):
        counts = [max(1, min(count, n)) for count in counts]
    return draw.choice([*counts, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0, np.float64(0.3)])


def _factors(draw, table):
    """Factors by name, by position or as a mask."""
    positions = draw.some(range(table.n_factors))
    names = [table.names[j] for j in positions]
    mask = [j in positions for j in range(table.n_factors)]
    return draw.choice(
        [positions, np.array(positions, dtype=int), mask, np.array(mask), names, names[0] if names else []]
    )


def _random_state(draw, table):
    return draw.weighted({"seed": 12, "generator": 1, "sequence": 1}), draw.integer(0, 2**32)


ALPHAS = {0.1: 2, 0.01: 2, 0.5: 2, 0.99: 1, 1e-3: 1, 1 - 1e-12: 1, np.float32(0.1): 1, 1e-13: 0.1}

# For each parameter how often it is given, and what it may be.
ALLOWED = {
    "n_neighbors": (0.5, _n_neighbors),
    "n_outer": (0.35, _n_outer),
    "subsample": (0.15, lambda draw, table: draw.choice(["random", "twinning"])),
    "scale": (0.2, lambda draw, table: draw.choice([True, False, np.bool_(False)])),
    "categorical": (0.2, _factors),
    "task": (0.3, lambda draw, table: draw.weighted({"auto": 4, "regression": 4, "classification": 1})),
    "n_jobs": (0.1, lambda draw, table: draw.choice([None, 1, 2, -1, np.int32(1)])),
    "estimator": (0.4, lambda draw, table: draw.choice([None, "nearest", "extrapolated"])),
    "forward": (0.4, lambda draw, table: draw.choice(["full", "fast", 1, 2, 10, np.int64(2)])),
    "elimination": (0.4, lambda draw, table: draw.choice(["batch", "single"])),
    "rule": (0.25, lambda draw, table: draw.choice(["paper", "calibrated", "calibrated"])),
    "alpha": (0.2, lambda draw, table: draw.weighted(ALPHAS)),
    "split": (0.2, lambda draw, table: draw.chance(0.8)),
    "verbose": (0.02, lambda draw, table: 1),
    "noise": (0.3, lambda draw, table: draw.chance(0.5)),
    "uncertainty": (0.5, lambda draw, table: draw.chance(0.8)),
    "method": (0.15, lambda draw, table: draw.choice(["plug-in", "subsample"])),
    "subset": (0.3, _factors),
    "n_pairs": (1, lambda draw, table: draw.choice([1, 1, 2, 3, 5])),
    "threshold": (0.4, lambda draw, table: draw.choice([0.51, 0.6, 0.75, 0.9, 1, 1.0, np.nextafter(0.5, 1)])),
}

# Which parameters each function has.
ESTIMATES = ("n_neighbors", "n_outer", "subsample", "scale", "categorical", "task", "n_jobs", "estimator")
SELECTION = (*ESTIMATES, "forward", "elimination", "rule", "alpha", "split", "verbose")
OF_FUNCTION = {
    "fit": SELECTION,
    "choose": SELECTION,
    "total_indices": (*ESTIMATES, "noise", "uncertainty", "method", "subset"),
    "backward_elimination": (*ESTIMATES, "elimination", "uncertainty"),
    "explained_variance": ESTIMATES,
    "stability": ("n_pairs", "threshold", "n_jobs"),
}


def make_options(draw, table, function):
    """Return keywords for a function; some are wrong, at most two."""
    options = _allowed(draw, table, OF_FUNCTION[function])
    options["random_state"] = _random_state(draw, table)
    if function == "explained_variance":
        options["subset"] = _factors(draw, table)
    if function == "stability":
        options["selector"] = _allowed(draw, table, SELECTION) if draw.chance(0.8) else None
    if draw.chance(0.1):
        for _ in range(draw.integer(1, 2)):
            _spoil(draw, options, function)
    return options


def _allowed(draw, table, parameters):
    options = {}
    for name in parameters:
        share, value = ALLOWED[name]
        if draw.chance(share):
            options[name] = value(draw, table)
    if options.get("rule") == "calibrated" and draw.chance(0.9):  # which goes its own way
        options.pop("forward", None), options.pop("elimination", None)
    return options


def _spoil(draw, options, function):
    names = [name for name in (*OF_FUNCTION[function], "random_state", *options) if name in WRONG]
    if draw.chance(0.05) and function not in ("fit", "choose", "stability"):
        options["n_neighbours"] = 3
    elif isinstance(options.get("selector"), dict) and draw.chance(0.5):
        name = draw.choice([name for name in SELECTION if name in WRONG])
        options["selector"][name] = draw.choice(WRONG[name])
    else:
        name = draw.choice(names)
        options[name] = draw.choice(WRONG[name])


def realised(options):
    """Return the keywords to pass: what can be used only once is made anew for every call."""
    made = dict(options)
    if isinstance(made.get("random_state"), tuple):
        kind, seed = made["random_state"]
        made["random_state"] = {
            "seed": seed,
            "generator": np.random.default_rng(seed),
            "sequence": np.random.SeedSequence(seed),
        }[kind]
    if isinstance(made.get("selector"), dict):
        made["selector"] = FIRST(**made["selector"])
    return made


def is_repeatable(options):
    """Tell whether the same call gives the same again."""
    return isinstance(options.get("random_state"), tuple) and options["random_state"][0] == "seed"
