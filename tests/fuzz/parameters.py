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

NOT_MAPPINGS = ((), [], "x0", 24, True, object(), [("x0", 1)], {"x0"})
WRONG_NUMBERS = tuple({0: value} for value in (0, -1, np.nan, np.inf, "24", None, True, 1j, [24], 5e-324, 1.7e308))
WRONG_KEYS = tuple({key: 1.0} for key in ("no such column", -1, 10**6, 1.5, None, True, (), (0, "x0"), np.nan, b"x0"))

WRONG_GROUPS = (
    *({"group": spec} for spec in SPECS), {"a": [0], "b": [0]}, {"x1": [0]}, {"": [0]}, {"a": []}, {"a": None},
    {"a": {0}}, {"a": [[0, 1], [2]]}, {"a": "["},
)  # fmt: skip
WRONG_SHARES = ((0,), (-1,), (np.nan,), (None,), ("1",), [[1]], "11", {0: 1}, (1e308, 1e308))

# For each parameter what it must not be.
WRONG = {
    "n_neighbors": (*NOT_NUMBERS[1:], 0, 1, -1, 2.0, 2.5, 10**9, 2**70, -(2**70), np.int8(-2)),
    "n_outer": (*NOT_NUMBERS[1:], 0, -1, 0.0, -0.5, 1.5, 10**9, 2**70, 1e-320, np.float32(2)),
    "subsample": NOT_NAMES,
    "forward": (*NOT_NAMES, 0, -1, 2**70),
    "elimination": NOT_NAMES,
    "scale": (*NOT_FLAGS, *WRONG_NUMBERS, *WRONG_KEYS),
    "period": (*NOT_MAPPINGS, *WRONG_NUMBERS, *WRONG_KEYS),
    "factor_groups": (*NOT_MAPPINGS, *WRONG_GROUPS, *WRONG_KEYS),
    "missing": (*NOT_NAMES, "impute"),
    "response": (*NOT_NAMES, "rank"),
    "output_weights": (*NOT_NUMBERS[1:], 1, 0.5, (), *WRONG_SHARES),
    "forced": SPECS,
    "max_factors": (*NOT_NUMBERS[1:], 0, -1, 1.5),
    "categorical": SPECS,
    "task": NOT_NAMES,
    "n_jobs": (0, 1.5, "2", [], True, np.nan, -(10**6)),
    "random_state": (-1, 1.5, "seed", object(), [1.5], np.nan, True, [], {}, np.random.RandomState),
    "estimator": NOT_NAMES[1:],
    "rule": NOT_NAMES,
    "control": (*NOT_NAMES, "FDR"),
    "goal": (*NOT_NAMES, "prediction"),
    "alpha": (*NOT_NUMBERS, 0, 1, 0.0, 1.0, -0.1, 1.1, 1e-320, -0.0),
    "split": NOT_FLAGS,
    "compact": (*NOT_NUMBERS[:-2], -0.1, 1.1, "true", NOT_NUMBERS[-1]),
    "importance": (*NOT_NAMES, "sobol"),
    "cluster_cut": (*NOT_NUMBERS[1:], "", "Auto", -0.1, 1.1),
    "factors": SPECS,
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


NUMBERS = {
    1: 3, 2.0: 3, 24: 5, 7: 2, 0.5: 2, 360: 2, 1e-9: 1, 1e9: 1, np.float32(0.1): 1, 1e-300: 0.2, 1e300: 0.2,
    1e-160: 0.2,
}  # fmt: skip


def _numbers_by_column(draw, table):
    """Numbers above 0 for some columns, by position, by name or by a glob: periods or units."""
    columns = table.numeric if draw.chance(0.95) else range(table.n_factors)
    if draw.chance(0.05) or not columns:
        return {draw.choice(["x*", "f*", "*", "?1", "x[01]"]): draw.weighted(NUMBERS)}
    by_name = draw.chance(0.3)
    chosen = [draw.choice(columns) for _ in range(draw.integer(1, 2))]
    return {table.names[j] if by_name else j: draw.weighted(NUMBERS) for j in chosen}


def _factor_groups(draw, table):
    """Columns put together: some, all, each by itself, one-hot ones, or all whose name has a pattern."""
    positions = list(range(table.n_factors))
    if table.sets and draw.chance(0.7):
        return {f"set {k}": list(members) for k, members in enumerate(table.sets)}
    kind = draw.weighted({"some": 6, "parts": 4, "one": 2, "each": 2, "all": 1, "glob": 1, "mask": 1})
    if kind == "each":
        return {f"group {j}": [j] for j in positions}
    if kind == "parts":
        parts = [positions[: len(positions) // 2], positions[len(positions) // 2 :]]
        return {f"part {k}": part for k, part in enumerate(parts) if part}
    if kind == "glob":
        return {"like": draw.choice(["f*", "x*", "*", "[fx]0", "?1"])}
    if kind == "mask":
        return {"masked": [draw.chance(0.5) for _ in positions]}
    chosen = {"some": draw.some(positions) or positions[-1:], "one": positions[:1], "all": positions}[kind]
    return {"together": chosen if draw.chance(0.7) else [table.names[j] for j in chosen]}


def _scale(draw, table):
    kind = draw.weighted({"flag": 4, "units": 4, "nothing": 0.5})
    if kind == "units":
        return _numbers_by_column(draw, table)
    return {} if kind == "nothing" else draw.choice([True, False, np.bool_(False)])


def _output_weights(draw, table):
    """Numbers, one for each output, or nearly so."""
    shape = getattr(table.y, "shape", np.shape(table.y[0]) if isinstance(table.y, list) and table.y else ())
    count = shape[-1] if len(shape) == 2 or (isinstance(table.y, list) and shape) else 1
    count = count if draw.chance(0.95) else draw.integer(1, 4)
    weights = [draw.choice([0, 1, 1, 2.0, 0.1, 1e-12, 1e150]) for _ in range(count)]
    return draw.choice([weights, tuple(weights), np.array(weights)])


def _task(draw, table):
    if table.classes and draw.chance(0.9):
        return draw.choice(["auto", "classification"])
    return draw.weighted({"auto": 4, "regression": 4, "classification": 1})


def _response(draw, table):
    if table.classes and draw.chance(0.9):
        return "values"
    return draw.choice(["values", "ranks", "ranks", "normal-scores", "normal-scores"])


def _random_state(draw, table):
    return draw.weighted({"seed": 12, "generator": 1, "sequence": 1}), draw.integer(0, 2**32)


ALPHAS = {0.1: 2, 0.01: 2, 0.5: 2, 0.99: 1, 1e-3: 1, 1 - 1e-12: 1, np.float32(0.1): 1, 1e-13: 0.1}

# For each parameter how often it is given, and what it may be.
ALLOWED = {
    "n_neighbors": (0.5, _n_neighbors),
    "n_outer": (0.35, _n_outer),
    "subsample": (0.15, lambda draw, table: draw.choice(["random", "twinning"])),
    "scale": (0.2, _scale),
    "factor_groups": (0.15, _factor_groups),
    "period": (0.1, _numbers_by_column),
    "missing": (0.3, lambda draw, table: draw.weighted({"level": 3, "drop": 3, "error": 1})),
    "response": (0.12, _response),
    "output_weights": (0.05, _output_weights),
    "forced": (0.12, _factors),
    "max_factors": (0.15, lambda draw, table: draw.choice([1, 1, 2, 3, 100, np.int64(1)])),
    "categorical": (0.2, _factors),
    "task": (0.3, _task),
    "n_jobs": (0.1, lambda draw, table: draw.choice([None, 1, 2, -1, np.int32(1)])),
    "estimator": (0.4, lambda draw, table: draw.choice([None, "nearest", "extrapolated", "adaptive"])),
    "forward": (0.4, lambda draw, table: draw.choice(["full", "fast", 1, 2, 10, np.int64(2)])),
    "elimination": (0.4, lambda draw, table: draw.choice(["batch", "single"])),
    "rule": (0.25, lambda draw, table: draw.choice(["paper", "calibrated", "calibrated"])),
    "alpha": (0.2, lambda draw, table: draw.weighted(ALPHAS)),
    "control": (0.1, lambda draw, table: draw.choice(["fwer", "fdr", "fdr"])),
    "goal": (0.1, lambda draw, table: draw.choice(["explain", "predict", "predict"])),
    "split": (0.2, lambda draw, table: draw.chance(0.8)),
    "verbose": (0.02, lambda draw, table: 1),
    "noise": (0.3, lambda draw, table: draw.chance(0.5)),
    "uncertainty": (0.5, lambda draw, table: draw.chance(0.8)),
    "method": (0.15, lambda draw, table: draw.choice(["plug-in", "subsample"])),
    "subset": (0.3, _factors),
    "compact": (0.6, lambda draw, table: draw.choice([True, True, np.True_, False, 0.01, 0.2, 0, 1, 1.0])),
    "importance": (0.6, lambda draw, table: draw.choice(["total", "shapley", "shapley"])),
    "cluster_cut": (0.6, lambda draw, table: draw.choice(["auto", None, 0.0, 0.2, 0.5, np.float32(0.9), 1])),
    "factors": (0.3, _factors),
    "n_pairs": (1, lambda draw, table: draw.choice([1, 1, 2, 3, 5])),
    "threshold": (0.4, lambda draw, table: draw.choice([0.51, 0.6, 0.75, 0.9, 1, 1.0, np.nextafter(0.5, 1)])),
}

# Which parameters each function has.
ESTIMATES = (
    "n_neighbors", "n_outer", "subsample", "scale", "categorical", "task", "n_jobs", "estimator", "factor_groups",
    "period", "missing", "response", "output_weights",
)  # fmt: skip
SELECTION = (
    *ESTIMATES, "forward", "elimination", "rule", "alpha", "control", "goal", "split", "verbose", "forced",
    "max_factors",
)  # fmt: skip
OF_FUNCTION = {
    "fit": SELECTION,
    "choose": SELECTION,
    "total_indices": (*ESTIMATES, "noise", "uncertainty", "method", "subset"),
    "backward_elimination": (*ESTIMATES, "elimination", "uncertainty"),
    "explained_variance": ESTIMATES,
    "stability": ("n_pairs", "threshold", "n_jobs"),
}

# The same for what factors share.
SHARING = ("compact", "importance", "cluster_cut")
OF_SHARING = {
    "fit": (*SELECTION, *SHARING),
    "choose": (*SELECTION, *SHARING),
    "backward_elimination": OF_FUNCTION["backward_elimination"],
    "closed_indices": (*ESTIMATES, "subset"),
    "shapley_effects": (*ESTIMATES, "uncertainty"),
    "interactions": (*ESTIMATES, "factors"),
    "cumulative_ranking": ESTIMATES,
}


def make_options(draw, table, function, of_function):
    """Return keywords for a function; some are wrong, at most two."""
    options = _allowed(draw, table, of_function[function])
    options["random_state"] = _random_state(draw, table)
    if function == "explained_variance":
        options["subset"] = _factors(draw, table)
    if function == "stability":
        options["selector"] = _allowed(draw, table, SELECTION) if draw.chance(0.8) else None
    if draw.chance(0.1):
        for _ in range(draw.integer(1, 2)):
            _spoil(draw, options, function, of_function)
    return options


def _allowed(draw, table, parameters):
    options = {}
    for name in parameters:
        share, value = ALLOWED[name]
        if draw.chance(share):
            options[name] = value(draw, table)
    if options.get("rule") == "calibrated" and draw.chance(0.9):  # which goes its own way
        options.pop("forward", None), options.pop("elimination", None)
    elif options.get("goal") == "predict" and draw.chance(0.9):
        options["rule"] = "calibrated"
    return options


def _spoil(draw, options, function, of_function):
    names = [name for name in (*of_function[function], "random_state", *options) if name in WRONG]
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
