"""What drives the progression of diabetes? The main job on a table that comes with scikit-learn."""

from sklearn.datasets import load_diabetes

from firstfactor import FIRST

data = load_diabetes(scaled=False)
names = data.feature_names
selector = FIRST(categorical=[names.index("sex")]).fit(data.data, data.target)

print(f"{len(data.target)} patients, {len(names)} factors.")
print(f"No model can explain more than {selector.r2_ceiling_:.0%} of the variance from the factors selected:\n")
for i in selector.selected_:
    importance = selector.importances_[i]
    print(f"  {names[i]:6} {importance:.3f} {'█' * round(40 * importance)}")

print("\nHow they were found (x0, x1, ... are the columns in order):\n")
print(selector.path_)
