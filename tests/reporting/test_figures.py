"""Lines of the tree beside the rows of the chart."""

import numpy as np

from firstfactor.reporting.figures import Branch, draw_branches
from firstfactor.results.sharing import Node, Tree


def test_lines_join_those_first_that_share_most():
    nodes = (Node((2, 0), (5, 1), 0.9, 0.5, 0.1), Node((3, 1), (5, 1, 3), 0.5, 0.6, 0.1))
    tree = Tree(tuple("abcdef"), (1, 3, 5), nodes, np.eye(3))
    order, lines = draw_branches(tree, (1, 3, 5))
    assert order == [5, 1, 3]
    inner, outer = 0.15 + 0.7 * 0.4 / 0.5, 0.15
    assert Branch(inner, 0.5, 1.0, 0.5) in lines[5] and Branch(inner, 0.5, inner, 1.0) in lines[5]
    assert Branch(inner, 0.0, inner, 0.5) in lines[1] and Branch(outer, 0.0, inner, 0.0) in lines[1]
    assert Branch(outer, 0.5, 1.0, 0.5) in lines[3] and Branch(outer, 0.0, outer, 0.5) in lines[3]


def test_without_a_node_of_its_own_a_cluster_has_one_line():
    order, lines = draw_branches(None, (4, 2))
    assert order == [4, 2]
    assert lines == {
        4: (Branch(0.4, 0.5, 1.0, 0.5), Branch(0.4, 0.5, 0.4, 1.0)),
        2: (Branch(0.4, 0.5, 1.0, 0.5), Branch(0.4, 0.0, 0.4, 0.5)),
    }
