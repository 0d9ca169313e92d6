#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans a task graph that networkx holds and draws who does what when: plan_a_network.py [PICTURE].

Needs Debian's python3-networkx and python3-matplotlib; prints that they are missing where they are.
"""

from __future__ import annotations

import sys

try:
    import matplotlib

    matplotlib.use("Agg")  # no screen needed
    import matplotlib.pyplot as plt
    import networkx as nx
except ImportError as missing:
    sys.exit(f"skipped: {missing.name} is not installed (Debian: python3-networkx python3-matplotlib)")

import millrace


def pipeline(stages: int, branches: int) -> nx.DiGraph:
    """Stages of parallel branches, each joined before the next: nodes take `seconds`, edges carry `bytes`."""
    network = nx.DiGraph(name=f"{stages} stages of {branches} branches")
    network.add_node("begin", seconds=0.001)
    last = "begin"
    for stage in range(stages):
        join = f"join {stage}"
        network.add_node(join, seconds=0.002)
        for branch in range(branches):
            work = f"work {stage}.{branch}"
            network.add_node(work, seconds=0.004 + 0.003 * ((stage + 2 * branch) % 5))
            network.add_edge(last, work, bytes=2e6)
            network.add_edge(work, join, bytes=1e6)
        last = join
    return network


def graph_of(network: nx.DiGraph) -> tuple[millrace.Graph, list[str]]:
    """The network as a graph, and the node that each op is."""
    nodes = list(nx.topological_sort(network))
    op_of = {node: op for op, node in enumerate(nodes)}
    graph = millrace.Graph.from_edges(
        [network.nodes[node]["seconds"] for node in nodes],
        [(op_of[u], op_of[v], size) for u, v, size in network.edges(data="bytes")],
        name=network.graph["name"],
        names=nodes,
    )
    return graph, nodes


def draw(axes: plt.Axes, title: str, machine: millrace.Machine, plan: millrace.Plan, timeline: millrace.Timeline, nodes: list[str]) -> None:
    """A row for each device, a bar for each op."""
    seconds = timeline.finish - timeline.start
    colours = ["tab:blue" if nodes[group[0]].startswith("work") else "tab:orange" for group in plan.groups]
    axes.barh(timeline.device, 1e3 * seconds, left=1e3 * timeline.start, color=colours, edgecolor="white")
    axes.set_yticks(range(len(machine.devices)), [device.name for device in machine.devices])
    axes.set_title(f"{title}: {1e3 * timeline.makespan_seconds:.1f} ms")


def main() -> None:
    picture = sys.argv[1] if len(sys.argv) > 1 else "plan.png"
    graph, nodes = graph_of(pipeline(stages=3, branches=6))
    machine = millrace.load_machine("homogeneous:3,latency=5e-4,bandwidth=1e9")

    plans = {method: millrace.schedule(graph, machine, method).plan for method in ("sequential", "heft")}
    # Transfers turn out to take twice as long as the machine says: the target decides.
    result = millrace.optimize(graph, machine, "sim:bandwidth", iterations=20000, samples=100)
    plans["optimize"] = result.best.plan

    bounds = millrace.lower_bounds(graph, machine)
    figure, rows = plt.subplots(len(plans), sharex=True, figsize=(9, 6), layout="constrained")
    for axes, (name, plan) in zip(rows, plans.items()):
        timeline = millrace.simulate(graph, plan)
        draw(axes, name, machine, plan, timeline, nodes)
        axes.axvline(1e3 * bounds.proven_bound_seconds, color="black", linestyle=":")
        print(f"{name:12} {1e3 * timeline.makespan_seconds:7.2f} ms")
    rows[-1].set_xlabel("ms; no plan ends before the dotted line")
    figure.savefig(picture)
    print(f"{'no less than':12} {1e3 * bounds.proven_bound_seconds:7.2f} ms\n{picture} shows who does what when")


if __name__ == "__main__":
    main()
