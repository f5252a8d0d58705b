"""What drives the progression of diabetes? The main job on a table that comes with scikit-learn."""

from sklearn.datasets import load_diabetes

from firstfactor import FIRST

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "one", 2.0: "two"})  # codes without an order: a category

selector = FIRST().fit(X, y)

print(f"{len(X)} patients, {X.shape[1]} factors.")
print(f"No model can explain more than {selector.r2_ceiling_:.0%} of the variance from the factors selected:\n")
for i in selector.selected_:
    importance = selector.importances_[i]
    print(f"  {X.columns[i]:6} {importance:.3f} {'█' * round(40 * importance)}")
print(f"\nHow they were found:\n\n{selector.path_}")
