"""Functions with a known answer that the paper does not look at: small effects, many factors, interactions.

Factors are uniform on [0, 1]. Noise is normal, and a given share of the variance of y where factors are independent.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from firstfactor import problems
from firstfactor.problems import uniform_factors

from .arrays import Floats
from .noise import Source

FRIEDMAN_VARIANCE = 18.28
"""Of the paper's Friedman function without noise, with independent factors."""
ISHIGAMI_VARIANCE, HEAVY_TAILED_VARIANCE = 13.8446, 6.4043
"""The same of the paper's other functions."""
NOISE_SHARES = (0.1, 0.5)
"""Small and large noise, as a share of the variance of y."""
BESIDE = 2
"""Position of the factor with a small effect, which Friedman's function does not have."""

G_CONSTANTS = np.array([0.0, 1.0, 4.5, 9.0])
"""Of Sobol's g-function: the larger, the less its factor matters."""
G_VARIANCES = 1 / (3 * (1 + G_CONSTANTS) ** 2)
"""Of its four terms."""

BOREHOLE = np.array(
    [
        (0.05, 0.15),  # radius of the borehole
        (100, 50_000),  # radius of influence
        (63_070, 115_600),  # transmissivity of the upper aquifer
        (990, 1_110),  # its head
        (63.1, 116),  # transmissivity of the lower aquifer
        (700, 820),  # its head
        (1_120, 1_680),  # length of the borehole
        (9_855, 12_045),  # conductivity
    ]
)
"""The usual ranges of its eight factors."""
BOREHOLE_FACTORS = (0, 3, 5, 6, 7)
"""Those that can be found: the others have less than 1e-4 of the variance."""

BENT = (2, 4, 6)
"""Factors of Morris' function that enter it by a curve."""
MORRIS_TERMS = ((1, 10, 20.0), (2, 6, -15.0), (3, 5, -10.0), (4, 4, 5.0))
"""How many factors a term has, how many factors have such terms, and their coefficient."""


@dataclass(frozen=True)
class Function:
    """A response: a function of the first factors, and noise."""

    function: Callable[[Floats], Floats]
    """The response without noise, one value per row."""
    variance: float
    """Of it, where factors are independent."""
    noise_share: float
    """Share of the variance of y that is noise."""
    true_factors: tuple[int, ...]
    sought: tuple[int, ...] = ()
    """As in `Source`."""

    @property
    def noise(self) -> float:
        """The standard deviation of the noise."""
        return float(np.sqrt(self.variance * self.noise_share / (1 - self.noise_share)))

    def __call__(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the response of some rows."""
        return self.function(X) + self.noise * rng.normal(size=len(X))

    @property
    def source(self) -> Source:
        """Tables of uniform factors and this response."""
        return Source(uniform_factors, self, self.true_factors, self.sought)


def _linear(x: Floats) -> Floats:
    """Return √12 (x − ½), of variance 1."""
    line: Floats = np.sqrt(12) * (x - 0.5)
    return line


def _quadratic(x: Floats) -> Floats:
    """Return √180 ((x − ½)² − 1/12), of variance 1."""
    curve: Floats = np.sqrt(180) * ((x - 0.5) ** 2 - 1 / 12)
    return curve


def _sine(x: Floats) -> Floats:
    """Return √2 sin 2πx, of variance 1."""
    wave: Floats = np.sqrt(2) * np.sin(2 * np.pi * x)
    return wave


def _sign(x: Floats) -> Floats:
    """Return 1 above ½, else −1."""
    return np.where(x > 0.5, 1.0, -1.0)


def _sum_of_sines(X: Floats) -> Floats:
    """Return Σ sin 2πxⱼ over five factors."""
    total: Floats = np.sin(2 * np.pi * X[:, :5]).sum(axis=1)
    return total


def _ten_terms(X: Floats) -> Floats:
    """Return the sum of four lines, three parabolas and three sines, each of its own factor and of variance 1."""
    terms = (_linear(X[:, :4]), _quadratic(X[:, 4:7]), _sine(X[:, 7:10]))
    total: Floats = np.hstack(terms).sum(axis=1)
    return total


def _g_function(X: Floats) -> Floats:
    """Return Π (|4xⱼ − 2| + aⱼ) / (1 + aⱼ)."""
    product: Floats = ((np.abs(4 * X[:, :4] - 2) + G_CONSTANTS) / (1 + G_CONSTANTS)).prod(axis=1)
    return product


def _borehole(X: Floats) -> Floats:
    """Return the flow through a borehole, 2πTᵤ(Hᵤ − Hₗ) / (l (1 + 2LTᵤ/(l r_w² K) + Tᵤ/Tₗ)) with l = log(r/r_w)."""
    low, high = BOREHOLE.T
    rw, r, tu, hu, tl, hl, length, k = (low + (high - low) * X[:, :8]).T
    log = np.log(r / rw)
    flow: Floats = 2 * np.pi * tu * (hu - hl) / (log * (1 + 2 * length * tu / (log * rw**2 * k) + tu / tl))
    return flow


def _morris(X: Floats) -> Floats:
    """Return the function of Morris (1991) without the terms that have random coefficients."""
    w = 2 * (X[:, :10] - 0.5)
    bent = X[:, BENT]
    w[:, BENT] = 2 * (1.1 * bent / (bent + 0.1) - 0.5)
    total = np.zeros(len(X))
    for size, n_factors, coefficient in MORRIS_TERMS:
        for term in combinations(range(n_factors), size):
            total += coefficient * w[:, term].prod(axis=1)
    return total


def _product_of(n_factors: int, part: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Return a function that is the product of the same function of the first factors, and nothing besides."""

    def function(X: Floats) -> Floats:
        product: Floats = part(X[:, :n_factors]).prod(axis=1)
        return product

    return function


def _mains_and_xor(X: Floats) -> Floats:
    """Return two lines, and whether exactly one of two more factors is above ½; of variance 1 each."""
    total: Floats = _linear(X[:, :2]).sum(axis=1) + _sign(X[:, 2:4]).prod(axis=1)
    return total


def _small_effect(effect_share: float, noise_share: float) -> Function:
    """Return Friedman's function with a line of a further factor that has a given share of the variance of y."""
    total = FRIEDMAN_VARIANCE / (1 - effect_share - noise_share)
    slope = np.sqrt(12 * effect_share * total)

    def function(X: Floats) -> Floats:
        response: Floats = problems.friedman.function(X) + slope * X[:, BESIDE]
        return response

    true = tuple(sorted((*problems.friedman.true_factors, BESIDE)))
    return Function(function, total * (1 - noise_share), noise_share, true, (BESIDE,))


def _first(n_factors: int) -> tuple[int, ...]:
    return tuple(range(n_factors))


NOISE_OF_SMALL_EFFECT = 0.997 / (FRIEDMAN_VARIANCE + 1)
"""As a share of the variance of y, with an effect of 0.3 %: the variance of the noise is 1, as in the paper."""

FUNCTIONS = {
    "small-effect": _small_effect(0.003, NOISE_OF_SMALL_EFFECT),
    "small-effect-in-noise": _small_effect(0.01, 0.5),
    "sines": Function(_sum_of_sines, 2.5, 0.1, _first(5)),
    "noisy-sines": Function(_sum_of_sines, 2.5, 1 / 3.5, _first(5)),
    "ten-terms": Function(_ten_terms, 10.0, 0.2, _first(10)),
    "g-function": Function(_g_function, float(np.prod(1 + G_VARIANCES) - 1), 0.07, _first(4)),
    "borehole": Function(_borehole, 2079.0, 0.01, _first(8), BOREHOLE_FACTORS),
    "noisy-borehole": Function(_borehole, 2079.0, 0.05, _first(8), BOREHOLE_FACTORS),
    "morris": Function(_morris, 1061.0, 0.01, _first(10)),
    "xor": Function(_product_of(2, _sign), 1.0, 0.2, _first(2)),
    "product": Function(_product_of(2, _linear), 1.0, 0.2, _first(2)),
    "product-of-three": Function(_product_of(3, _linear), 1.0, 0.2, _first(3)),
    "parity": Function(_product_of(3, _sign), 1.0, 0.2, _first(3)),
    "mains-and-xor": Function(_mains_and_xor, 3.0, 0.2, _first(4)),
}


def in_noise(name: str, share: float) -> str:
    """Return what a function is called where noise has that share of the variance of y."""
    return f"{name}-{100 * share:.0f}"


WITHOUT_NOISE = {
    "friedman": Function(problems.friedman.function, FRIEDMAN_VARIANCE, 0.0, problems.friedman.true_factors),
    "ishigami": Function(problems.ishigami.function, ISHIGAMI_VARIANCE, 0.0, problems.ishigami.true_factors),
    "heavy-tailed": Function(
        problems.heavy_tailed.function, HEAVY_TAILED_VARIANCE, 0.0, problems.heavy_tailed.true_factors
    ),
    **{name: FUNCTIONS[name] for name in ("g-function", "xor", "product")},
}
"""What is looked at in small and in large noise."""
FUNCTIONS |= {
    in_noise(name, share): replace(function, noise_share=share)
    for name, function in WITHOUT_NOISE.items()
    for share in NOISE_SHARES
}
SOURCES = {name: function.source for name, function in FUNCTIONS.items()}
