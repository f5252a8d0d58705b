"""The list of changes for `python -m tests.mutate` fits the present source."""

import pytest

from tests.mutate.change import PACKAGE, ROOT, Change
from tests.mutate.changes import CHANGES


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_can_be_made_and_leaves_python(change):
    changed = change.apply((PACKAGE / change.file).read_text())
    compile(changed, change.file, "exec")
    for test in change.tests.split():
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / "tests" / file).read_text()


def test_names_are_distinct():
    names = [change.name for change in CHANGES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("b", "c", "x.py: slip: 'b' must occur once in the file; it occurs 2 times."),
    ("z", "c", "x.py: slip: 'z' must occur once in the file; it occurs 0 times."),
    ("a", "a", "x.py: slip: 'a' is replaced by itself."),
])  # fmt: skip
def test_a_change_that_cannot_be_made_is_named(old, new, message):
    with pytest.raises(ValueError, match=message):
        Change("x.py", "slip", old, new, "test_x.py").apply("a b b")
