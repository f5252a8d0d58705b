"""Settings for all tests."""

from hypothesis import Phase, settings

settings.register_profile("firstfactor", deadline=None)  # the first call of a kernel compiles it
# The same examples each time, and no smaller one looked for when one fails: `python -m tests.mutate`.
settings.register_profile(
    "mutate", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate), database=None
)
settings.load_profile("firstfactor")
