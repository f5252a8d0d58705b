"""Pure noise in difficult data: how often something is selected."""

from ...data.evidence import HARD_NOISE
from ...scores.results import Results
from ..layout import Table
from .noise import tabulate_alarms


def tabulate_hard_noise(results: Results) -> list[Table]:
    """How often something is selected where there is nothing."""
    return [tabulate_alarms(results, HARD_NOISE)]
