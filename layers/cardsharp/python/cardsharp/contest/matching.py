"""The best pairs of many: a matching of the greatest weight (Edmonds' blossoms, by networkx)."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")

_MOST = 10**15
"""More than all that weighs against any pairs together."""


def pairs(items: Sequence[T], against: Callable[[T, T], int | None]) -> list[tuple[T, T]]:
    """As many pairs as can be, for which the sum of what is `against` each is least.

    Two against whom it is None are no pair. In a pair, and among the pairs, the order is that of
    the items.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and not deployed

    # Its edges are looked up without networkx's views of them, which cost a third of a matching.
    looked_up = {"__getitem__": lambda graph, item: graph._adj[item]}  # noqa: SLF001
    graph: nx.Graph[int] = type("Graph", (nx.Graph,), looked_up)()
    for one, other in combinations(range(len(items)), 2):
        weight = against(items[one], items[other])
        if weight is not None:
            graph.add_edge(one, other, weight=_MOST - weight)
    found = nx.max_weight_matching(graph, maxcardinality=True)
    return [(items[one], items[other]) for one, other in sorted(map(sorted, found))]
