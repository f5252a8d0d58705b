"""What is private in scikit-learn, and used nevertheless."""

from typing import Any

from sklearn.utils._set_output import _get_output_config


def transform_output(estimator: Any) -> str:
    """The kind of table that `transform` of an estimator returns: "default", "pandas" or "polars"."""
    return str(_get_output_config("transform", estimator=estimator)["dense"])
