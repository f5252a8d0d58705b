"""How the work of a step is cut."""

import pytest

from firstfactor.cluster.search import count_parts


@pytest.mark.parametrize(
    ("n_blocks", "n_workers", "n_threads", "parts"),
    [
        (157, 100, 3200, 32),  # each worker has a block: as many parts as it has threads
        (1, 8, 8, 32),  # one block for all: several parts for each thread
        (1, 100, 3200, 64),
        (4, 2, 2, 2),  # four tasks for each thread
        (200, 1, 1, 1),
        (3, 0, 1, 2),  # workers are on their way
    ],
)
def test_parts_of_a_block(n_blocks, n_workers, n_threads, parts):
    assert count_parts(n_blocks, n_workers, n_threads) == parts
