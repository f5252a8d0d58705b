"""All that is random about a case, from its kind and seed alone."""

import functools
import random

import numpy as np


class Draw:
    """A source of choices; the same kind and seed give the same ones."""

    def __init__(self, kind, seed):
        self._random = random.Random(f"{kind}:{seed}")

    @functools.cached_property
    def rng(self):
        """A numpy generator for whole arrays; made when first used."""
        return np.random.default_rng(self._random.getrandbits(64))

    def chance(self, probability):
        return self._random.random() < probability

    def integer(self, low, high):
        """A whole number from ``low`` to ``high``, both included."""
        return self._random.randint(low, max(low, high))

    def choice(self, options):
        return self._random.choice(options)

    def some(self, options, most=None):
        """A few of the options, in their order."""
        count = self.integer(0, min(len(options), len(options) if most is None else most))
        chosen = set(self._random.sample(range(len(options)), count))
        return [option for i, option in enumerate(options) if i in chosen]

    def weighted(self, options):
        """One of the keys of a dictionary, as often as its value says."""
        return self._random.choices(list(options), list(options.values()))[0]
