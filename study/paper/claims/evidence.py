"""What we require of the calibrated rule and of intervals on harder tables: few false factors, and no blindness."""

from collections.abc import Iterable

from ...data.evidence import (
    AMOUNTS,
    BOREHOLE,
    CLASSES,
    FALSE_FACTORS,
    FOLDS,
    G_FUNCTION,
    HARD_NOISE,
    INTERACTIONS,
    INTERVALS,
    MORRIS,
    NEXT_STEP,
    RARE_CLASS,
    SHUFFLED,
    SINES,
    SMALL_EFFECTS,
    TEN_TERMS,
    WITH_TRUE_FACTORS,
)
from ...data.labels import NAMES, label
from ...data.setting import Setting
from ...methods.ours import ALPHA
from ...scores.certainty import Quality, alarms_of_next_step, pooled, qualities
from ...scores.results import Results
from .claim import Check, Requirement
from .requirements import few_alarms_in

FOUND: dict[str, dict[Setting, tuple[str, float]]] = {
    "small-effects": dict.fromkeys((*SMALL_EFFECTS[:2], SMALL_EFFECTS[4]), ("found", 0.9)),
    "other-functions": {
        TEN_TERMS[1]: ("found", 0.98),
        **dict.fromkeys(SINES, ("exact", 0.85)),
        **dict.fromkeys((G_FUNCTION, BOREHOLE, MORRIS[1]), ("exact", 0.9)),
    },
    "interactions": dict.fromkeys(INTERACTIONS, ("exact", 0.9)),
    "rare": {CLASSES: ("exact", 0.6), RARE_CLASS: ("found", 0.85), AMOUNTS: ("found", 0.9)},
}
"""What must be reached by experiment and setting: which metric, and its least mean."""
MEANINGS = {"exact": "share of exact selections", "found": "mean share of the factors sought"}

FALSE_OVERALL, FALSE_IN_EACH, FALSE_IN_TABLES = 0.14, 0.2, 0.14
NEXT_STEP_RANGE = (0.04, 0.14)

LEAST_INDEX = 0.02
"""Intervals of smaller indices are not judged."""
COVERED, WIDER = 0.92, 2.0
WIDTHS = dict(
    zip(
        INTERVALS,
        (
            (0.1916, 0.0840, 0.0328, 0.0185, 0.0298),
            (0.1210, 0.1199, 0.0504, 0.0635, 0.1106, 0.0236),
            (0.1704, 0.1121, 0.0682, 0.0252),
            (0.0853, 0.0372, 0.0120, 0.0098, 0.0101),
            (0.0523, 0.0518, 0.0212, 0.0277, 0.0474, 0.0083),
            (0.0759, 0.0490, 0.0301, 0.0087),
        ),
        strict=True,
    )
)
"""Mean widths of intervals that take account of chance alone, of the indices and last of the ceiling; 50 runs."""

MEAN_LOSS, WORST_LOSS = 0.01, 0.05


def relative_widths(found: list[Quality], setting: Setting) -> list[float]:
    """Return the mean width of each interval as a multiple of that of chance alone."""
    return [one.mean_width / width for one, width in zip(found, WIDTHS[setting], strict=True)]


def is_judged(one: Quality) -> bool:
    """Tell whether an index, or the ceiling, is large enough for its interval to be judged."""
    return one.truth > LEAST_INDEX


def _at_least(setting: Setting, metric: str, least: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        mean = results.mean("CALIBRATED", setting, metric)
        return mean.value >= least, f"{mean} in {mean.n} runs"

    return check


def _few_false(settings: Iterable[Setting], most: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        shares = {setting: results.mean("CALIBRATED", setting, "any false") for setting in settings}
        worst = max(shares, key=lambda setting: shares[setting].value)
        return shares[worst].value <= most, f"highest: {shares[worst]}, {label(worst)}"

    return check


def _few_overall(settings: tuple[Setting, ...], metric: str, most: float) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = pooled([results.need("CALIBRATED", setting) for setting in settings], metric)
        return share.value <= most, f"{share.text(3)} of {share.n:,} runs"

    return check


def _next_step_in_range(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        share = alarms_of_next_step(results.need("CALIBRATED-NEXT", setting))
        low, high = NEXT_STEP_RANGE
        return low <= share.value <= high, share.text(3)

    return check


def _covered(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = [one for one in qualities(results.need("EXTRAPOLATED", setting)) if is_judged(one)]
        worst = min(found, key=lambda one: one.covered.value)
        text = f"lowest: {worst.name} {worst.covered.text(3)} (bias {worst.bias.text(4, sign=True)})"
        return worst.covered.value >= COVERED, text

    return check


def _not_too_wide(setting: Setting) -> Check:
    def check(results: Results) -> tuple[bool, str]:
        found = qualities(results.need("EXTRAPOLATED", setting))
        widths = {
            one.name: width for one, width in zip(found, relative_widths(found, setting), strict=True) if is_judged(one)
        }
        widest = max(widths, key=lambda name: widths[name])
        return widths[widest] <= WIDER, f"widest: {widest} {widths[widest]:.2f} times as wide"

    return check


def _losses(results: Results) -> dict[Setting, float]:
    return {setting: results.mean("CALIBRATED", setting, "loss").value for setting in FOLDS}


def _small_mean_loss(results: Results) -> tuple[bool, str]:
    losses = _losses(results)
    mean = sum(losses.values()) / len(losses)
    return mean <= MEAN_LOSS, _signed(mean)


def _small_worst_loss(results: Results) -> tuple[bool, str]:
    losses = _losses(results)
    worst = max(losses, key=lambda setting: losses[setting])
    return losses[worst] <= WORST_LOSS, f"{_signed(losses[worst])}, {label(worst)}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _false_factors() -> Iterable[Requirement]:
    for source in WITH_TRUE_FACTORS:
        yield Requirement(
            "false-factors",
            f"{NAMES[source]}: few runs with a false factor, whatever the size and the correlation.",
            f"share at most {FALSE_IN_EACH} in each of nine settings",
            _few_false([setting for setting in FALSE_FACTORS if setting.source == source], FALSE_IN_EACH),
        )
    yield Requirement(
        "false-factors",
        "All functions together: few runs with a false factor.",
        f"share at most {FALSE_OVERALL} of all runs",
        _few_overall(FALSE_FACTORS, "any false", FALSE_OVERALL),
    )


def _next_step() -> Iterable[Requirement]:
    low, high = NEXT_STEP_RANGE
    for setting in NEXT_STEP:
        yield Requirement(
            "next-step",
            f"{label(setting)}: beyond all true factors, chance lets one in as often as it should.",
            f"share of p-values up to {ALPHA} from {low} to {high}",
            _next_step_in_range(setting),
        )


def _found() -> Iterable[Requirement]:
    for experiment, settings in FOUND.items():
        for setting, (metric, least) in settings.items():
            says = "exact selection" if metric == "exact" else "what is sought is found"
            yield Requirement(
                experiment,
                f"{label(setting)}: {says}.",
                f"{MEANINGS[metric]} at least {least:.2f}",
                _at_least(setting, metric, least),
            )


def _intervals() -> Iterable[Requirement]:
    for setting in INTERVALS:
        yield Requirement(
            "intervals",
            f"{label(setting)}: 95 % intervals hold the truth.",
            f"share at least {COVERED}, of each index above {LEAST_INDEX} and of the ceiling",
            _covered(setting),
        )
        yield Requirement(
            "intervals",
            f"{label(setting)}: 95 % intervals are not too wide.",
            f"mean width at most {WIDER:.0f} times that of intervals of chance alone, of the same",
            _not_too_wide(setting),
        )


def _tables() -> Iterable[Requirement]:
    yield Requirement(
        "ten-tables",
        "Shuffled targets: seldom is something selected.",
        f"share at most {FALSE_IN_TABLES} of all runs",
        _few_overall(SHUFFLED, "any selected", FALSE_IN_TABLES),
    )
    yield Requirement(
        "ten-tables",
        "A forest on the selected factors is on average nearly as good as one on all.",
        f"R² or accuracy lower by at most {MEAN_LOSS}, mean of ten tables",
        _small_mean_loss,
    )
    yield Requirement(
        "ten-tables",
        "A forest on the selected factors is much worse on no table.",
        f"R² or accuracy lower by at most {WORST_LOSS}, worst of ten tables",
        _small_worst_loss,
    )


CLAIMS = (
    *few_alarms_in("hard-noise", HARD_NOISE),
    *_false_factors(),
    *_next_step(),
    *_found(),
    *_intervals(),
    *_tables(),
)
