"""The type of arrays that all of the study shares."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
