"""Private parts of scikit-learn that are used nevertheless."""

from typing import Any

from sklearn.utils._set_output import _get_output_config


def transform_output(estimator: Any) -> str:
    """Return the kind of table that `transform` of an estimator returns: "default", "pandas" or "polars"."""
    return str(_get_output_config("transform", estimator=estimator)["dense"])
