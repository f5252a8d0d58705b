"""Columns of a table: values that can be analysed, however odd, and values that have to be refused."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd

WORDS = np.array(["ash", "elm", "oak", "fir", "", " ", "é", "名", "nan", "NA", "\x1b[31m", "=1+1"], dtype=object)


def _counter(start, dtype):
    return lambda draw, n: (np.arange(n, dtype=dtype) % draw.choice([3, 7, 10**6]) + dtype(start)).astype(dtype)


def _scaled(*scales):
    return lambda draw, n: draw.rng.normal(size=n) * draw.choice(scales)


def _sprinkled(background, *values):
    """Mostly one value, with a few others in between."""

    def make(draw, n):
        column = np.full(n, background, dtype=float)
        column[draw.rng.integers(0, n, size=max(n // 6, 1)) if n else []] = draw.choice(values)
        return column

    return make


def _integers(draw, n):
    kind = np.iinfo(draw.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]))
    low, high = draw.choice([(0, 3), (0, 100), (kind.min, kind.max)])
    return draw.rng.integers(low, high, size=n, dtype=kind.dtype, endpoint=True)


def _words(draw, n):
    levels = draw.rng.permutation(WORDS)[: draw.integer(2, 5)]
    return levels[draw.rng.integers(0, len(levels), size=n)]


# What can be analysed. The first few are what real tables hold, and come most often.
ORDINARY = {
    "normal": lambda draw, n: draw.rng.normal(size=n),
    "uniform": lambda draw, n: draw.rng.uniform(size=n),
    "grid": lambda draw, n: draw.rng.integers(0, 4, size=n),
    "words": _words,
}
ODD = {
    "integers": _integers,
    "float32": lambda draw, n: draw.rng.normal(size=n).astype(np.float32),
    "float16": lambda draw, n: draw.rng.normal(size=n).astype(np.float16),
    "booleans": lambda draw, n: draw.rng.integers(0, 2, size=n).astype(bool),
    "constant": lambda draw, n: np.full(n, draw.choice([0.0, -0.0, 3.7, 1e300, -1e-310])),
    "signed zeros": lambda draw, n: draw.rng.choice([0.0, -0.0], size=n),
    "rare value": _sprinkled(0.0, 1.0, 1e-9, 1e9),
    "offset": lambda draw, n: 1e9 + draw.rng.integers(0, 50, size=n) / 8,
    "heavy tail": lambda draw, n: draw.rng.standard_cauchy(size=n) ** 3,
    "row number": lambda draw, n: np.arange(n) + draw.choice([0, 1, 1000]),
    "large counter": _counter(2**53 + 1, np.int64),
    "largest counter": _counter(2**64 - 2**21, np.uint64),
    "smallest counter": _counter(-(2**63), np.int64),
    "nearly constant": lambda draw, n: 1.0 + draw.rng.integers(0, 2, size=n) * np.finfo(float).eps,
    "unique words": lambda draw, n: np.array([f"row {i}" for i in range(n)], dtype=object),
    "decimals": lambda draw, n: np.array([decimal.Decimal(int(i)) / 8 for i in draw.rng.integers(0, 99, n)], object),
    "fractions": lambda draw, n: np.array([fractions.Fraction(int(i), 3) for i in draw.rng.integers(0, 9, n)], object),
    "boxed numbers": lambda draw, n: draw.rng.normal(size=n).astype(object),
    "boxed booleans": lambda draw, n: draw.rng.integers(0, 2, size=n).astype(bool).astype(object),
}

# What tables of people, sites and sensors hold besides numbers and words.
EVERYDAY = {
    "dates": lambda draw, n: np.datetime64("2024-01-01") + draw.rng.integers(-400, 400, size=n).astype("m8[D]"),
    "times": lambda draw, n: np.datetime64("2024-01-01", "us") + draw.rng.integers(0, 10**14, size=n).astype("m8[us]"),
    "durations": lambda draw, n: draw.rng.integers(-9, 10**5, size=n).astype("m8[s]"),
    "boxed dates": lambda draw, n: _boxed([DAY + datetime.timedelta(int(i)) for i in draw.rng.integers(0, 99, n)]),
    "zoned times": lambda draw, n: _boxed(
        [NOON + datetime.timedelta(0, int(i)) for i in draw.rng.integers(0, 9999, n)]
    ),
    "clock times": lambda draw, n: _boxed([datetime.time(int(i)) for i in draw.rng.integers(0, 24, n)]),
    "boxed durations": lambda draw, n: _boxed([datetime.timedelta(int(i)) for i in draw.rng.integers(0, 9, n)]),
    "hours": lambda draw, n: draw.rng.integers(0, 24, size=n),
    "directions": lambda draw, n: draw.rng.uniform(-180, 360, size=n),
    "percentages": lambda draw, n: draw.rng.integers(0, 100, size=n) / 100,
    "sizes": lambda draw, n: np.array(["small", "medium", "large"], dtype=object)[draw.rng.integers(0, 3, size=n)],
}
DAY = datetime.date(2024, 1, 1)
NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))

# What reaches the ends of float64; some of it has to be refused next to other values.
EXTREME = {
    "outliers": _sprinkled(1.0, 1e12, 1e120, 1e300, -1e300),
    "huge": _scaled(1e150, 1e200, 1e300),
    "tiny": _scaled(1e-150, 1e-200, 1e-300),
    "subnormal": lambda draw, n: draw.rng.integers(0, 5, size=n) * 5e-324,
    "many scales": lambda draw, n: 10.0 ** draw.rng.uniform(-draw.choice([20, 300]), draw.choice([20, 300]), size=n),
}

# What has to be refused, or may be.
HOSTILE = {
    "one missing": _sprinkled(1.0, np.nan),
    "all missing": lambda draw, n: np.full(n, np.nan),
    "infinite": _sprinkled(1.0, np.inf, -np.inf),
    "none": lambda draw, n: np.array([None if i % 3 else "a" for i in range(n)], dtype=object),
    "nothing": lambda draw, n: np.full(n, None, dtype=object),
    "numbers as text": lambda draw, n: np.array([str(i) for i in draw.rng.integers(0, 5, size=n)], dtype=object),
    "mixed": lambda draw, n: np.array([i if i % 2 else str(i) for i in range(n)], dtype=object),
    "numbers and booleans": lambda draw, n: np.array([i if i % 2 else True for i in range(n)], dtype=object),
    "dates of all times": lambda draw, n: np.array(["0001-01-01", "9999-12-31"], "M8[us]")[np.arange(n) % 2],
    "dates and times": lambda draw, n: _boxed([DAY if i % 2 else NOON for i in range(n)]),
    "times with and without zone": lambda draw, n: _boxed(
        [NOON.replace(tzinfo=None) if i % 2 else NOON for i in range(n)]
    ),
    "not a time": lambda draw, n: np.full(n, "NaT", dtype="M8[s]"),
    "complex": lambda draw, n: draw.rng.normal(size=n) + 1j,
    "bytes": lambda draw, n: np.array([b"ab" if i % 2 else b"\xff" for i in range(n)], dtype=object),
    "tuples": lambda draw, n: _boxed([(i, "a") for i in range(n)]),
    "lists": lambda draw, n: _boxed([[i, i + 1] for i in range(n)]),
    "dictionaries": lambda draw, n: _boxed([{"a": i} for i in range(n)]),
    "arrays": lambda draw, n: _boxed([np.arange(2) for _ in range(n)]),
    "objects": lambda draw, n: _boxed([object() for _ in range(n)]),
    "long integers": lambda draw, n: np.array([2 ** (60 + i % 80) for i in range(n)], dtype=object),
    "very long integers": lambda draw, n: np.array([10 ** (300 + i % 20) for i in range(n)], dtype=object),
    "missing decimals": lambda draw, n: np.array([decimal.Decimal("NaN" if i % 4 == 1 else i) for i in range(n)]),
    "infinite decimals": lambda draw, n: np.array([decimal.Decimal("Infinity" if i % 4 else i) for i in range(n)]),
    "long doubles": lambda draw, n: draw.rng.normal(size=n).astype(np.longdouble) * np.longdouble("1e4000"),
    "lone surrogates": lambda draw, n: np.array(["\ud800" if i % 2 else "a" for i in range(n)], dtype=object),
}


def _boxed(values):
    """An array of objects that numpy would take apart."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def make_column(draw, n, earlier, kinds):
    """One column of ``n`` values, and what it is; some are copies or functions of earlier ones."""
    numeric = [column for column in earlier if column.dtype.kind == "f"]
    if earlier and draw.chance(0.04):
        return draw.choice(earlier).copy(), "copy"
    if numeric and draw.chance(0.04):
        with np.errstate(over="ignore"):
            return draw.choice(numeric) * np.float64(7) - 2, "linear in another"
    kind = draw.choice(list(draw.choice(kinds).items()))
    return kind[1](draw, n), kind[0]


def punch(draw, column):
    """The column with some of its values missing, from one of them to all."""
    n = len(column)
    if not n:
        return column
    share = draw.choice([0.0, 0.0, 0.05, 0.1, 0.3, 0.3, 0.6, 0.9, 1.0, 1.0])
    gaps = draw.rng.random(n) < share
    if share == 0 or (share == 1 and draw.chance(0.5)):  # all but one, or one
        gaps[draw.integer(0, n - 1)] = share == 0
    return leave_out(draw, column, gaps)


def leave_out(draw, column, gaps):
    """The column without some values: as its type says that there is none, or as one of the ways objects have."""
    kind = column.dtype.kind
    if kind in "fmMc":
        column = column.copy()
        column[gaps] = np.nan if kind in "fc" else "NaT"
        return column
    if kind in "iub" and draw.chance(0.5):
        return np.where(gaps, np.nan, column)
    column = column.astype(object)
    column[gaps] = draw.choice([None, None, np.nan, pd.NA, pd.NaT])
    return column


def one_hot(draw, n):
    """A category as columns of zeros and ones, one of which an encoder may have left out."""
    levels = draw.integer(2, 5)
    level = draw.rng.integers(0, levels, size=n)
    dtype = draw.choice([int, float, bool])
    return [(level == k).astype(dtype) for k in range(draw.integer(0, 1), levels)]
