"""RF and RF-SHAP: importances of a random forest with the defaults of the R package ranger."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from study.forest import grow
from study.outcome import Floats, Outcome


def random_forest(X: Floats, y: NDArray[Any], seed: int) -> Outcome:
    """RF: mean decrease of the impurity; ranks only.

    The forest is the study's own because scikit-learn's takes about ten times as long, and because leaves are as large
    as in ranger, which counts repeated rows of a bootstrap sample where scikit-learn counts distinct ones.
    """
    return Outcome(grow(X, y, seed=seed).impurity_importances, None)
