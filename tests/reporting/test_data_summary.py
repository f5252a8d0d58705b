"""Which factor of several that stand in for each other is shown."""

import pandas as pd
from sample_tables import mixed

from firstfactor import total_indices
from firstfactor.dependence.sharing import add_sharing
from firstfactor.reporting.data_summary import representatives
from firstfactor.reporting.report import write_report
from firstfactor.settings import Options
from firstfactor.variance.conditional import open_variances


def test_of_copies_none_of_which_is_selected_one_is_shown(tmp_path):
    X, y = mixed(150)
    X = pd.concat([X, X.add_suffix(" again")], axis=1)
    with open_variances(X, y, Options()) as variances:
        found = add_sharing(variances, total_indices(X, y, uncertainty=True), "auto")
    unselected = [driver.factors for driver in found.drivers if not found.support[list(driver.factors)].any()]
    assert any(len(factors) > 1 for factors in unselected)
    assert set(representatives(found)) >= {factors[0] for factors in unselected}
    write_report(found, tmp_path / "report.html", X=X, y=y)
    assert "again" in (tmp_path / "report.html").read_text()
