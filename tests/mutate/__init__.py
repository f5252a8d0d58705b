"""Would the tests see a slip in the source? Each of a list of changes must fail one: ``python -m tests.mutate``."""
