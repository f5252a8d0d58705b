"""Which factors drive the response, how much, and how well could any model do? From the table alone."""

from .indices import Indices, explained_variance, total_indices
from .path import Path
from .selection import backward_elimination
from .selector import FIRST

__all__ = ["FIRST", "Indices", "Path", "backward_elimination", "explained_variance", "total_indices"]
__version__ = "0.1.0"
