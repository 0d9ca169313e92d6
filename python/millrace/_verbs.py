# SPDX-License-Identifier: Apache-2.0
"""The functions of the package, which are those of the command."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy
import numpy.typing

from . import _millrace
from ._millrace import Graph, InvalidInput, Machine, OptimizeResult, Plan, Progress

Path = typing.Union[str, "os.PathLike[str]"]
MachineLike = typing.Union[Machine, Path, Mapping[str, typing.Any]]
Proxy = typing.Literal["linear", "contended"]

_MOST_COUNT = 2**40  # of samples and iterations, as for the command


@dataclasses.dataclass(frozen=True)
class Schedule:
    """A plan by one method, and what is known of it. Seconds."""

    plan: Plan
    method: str
    makespan_seconds: float
    lower_bound_seconds: float  # for the plan's groups
    proven_bound_seconds: float  # the same, by every means there is
    fusion_free_bound_seconds: float  # under any fusion
    samples: int  # plans the method made
    wall_seconds: float
    mean_makespan_seconds: float | None  # of methods that draw their plans
    distance: float | None  # how much these differ, 0 to 1
    memory_saving: bool  # was it changed to fit in memory?
    front: tuple[tuple[float, float], ...]  # seconds, and bytes or seconds between runs, of plans that trade these


@dataclasses.dataclass(frozen=True, eq=False)
class Timeline:
    """When the groups of a plan run, by the cost model. Seconds, bytes."""

    start: numpy.typing.NDArray[numpy.float64]  # of shape (groups,)
    finish: numpy.typing.NDArray[numpy.float64]  # of shape (groups,)
    device: numpy.typing.NDArray[numpy.int32]  # of shape (groups,)
    makespan_seconds: float
    feasible: bool  # does it fit in memory?
    peak_memory_bytes: numpy.typing.NDArray[numpy.float64]  # of shape (devices,)
    lower_bound_seconds: float  # for the plan's groups
    proven_bound_seconds: float  # the same, by every means there is
    fragility: float  # times as long where devices run whatever is ready first


@dataclasses.dataclass(frozen=True)
class LowerBounds:
    """What no plan can beat. Seconds."""

    lower_bound_seconds: float  # of plans of the groups
    proven_bound_seconds: float  # the same, by every means there is
    fusion_free_bound_seconds: float  # under any fusion


@dataclasses.dataclass(frozen=True)
class MethodOption:
    """A number, or several, that a method can be told."""

    name: str  # "temperature": a keyword of schedule, with _ for -
    meaning: str
    least: float
    most: float
    usual: str
    several: bool


@dataclasses.dataclass(frozen=True)
class Method:
    """A way of making plans."""

    name: str
    meaning: str
    takes_samples: bool
    takes_iterations: bool
    chooses_fusion: bool
    learned: bool
    available: bool  # False where its weights are missing
    options: tuple[MethodOption, ...]


def _pins(pins: Mapping[str, str | int] | None) -> list[tuple[str, str]]:
    return [(pattern, str(device)) for pattern, device in (pins or {}).items()]


def _patterns(patterns: Sequence[str]) -> list[str]:
    if isinstance(patterns, str):
        raise InvalidInput("keep_ops is a list of patterns")
    return list(patterns)


def _whole(name: str, value: int, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name}: {value!r} is not a whole number") from None
    if not least <= number <= most:
        raise InvalidInput(f"{name}: {number} is not from {least} to {most}")
    return number


def _count(name: str, value: int | None) -> int | None:
    return None if value is None else _whole(name, value, 1, _MOST_COUNT)


def _seconds(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not (number > 0 and math.isfinite(number)):
        raise InvalidInput(f"{name}: {value!r} is not a number of seconds above 0")
    return number


def _seed(value: int) -> int:
    return _whole("seed", value, 0, 2**64 - 1)


def _threads(value: int) -> int:
    return _whole("threads", value, 0, 4096)


def _settings(options: Mapping[str, typing.Any]) -> dict[str, list[float]]:
    settings = {}
    for name, value in options.items():
        try:
            numbers = [float(value)]
        except TypeError:
            numbers = [float(number) for number in value]
        settings[name.replace("_", "-")] = numbers
    return settings


def _weights(path: Path | None) -> str:
    return "" if path is None else os.fspath(path)


def load(path: Path, *, dimensions: Mapping[str, int] | None = None) -> Graph:
    """The graph of a file: .onnx, .json, .stg, or .txt of PipeDream.

    Op i is the i-th node of an ONNX model as read; its model is kept, so that plans can be run (Graph.executable).
    `dimensions` binds its symbolic dimensions. What the file makes one wonder about is a warning (Graph.warnings has it,
    too).

    Raises InvalidInput, naming the file and the place.
    """
    sizes = {name: _whole(f"dimension {name}", size, 1, 2**63 - 1) for name, size in (dimensions or {}).items()}
    graph = _millrace.load_graph(path, sizes)
    for warning in graph.warnings:
        warnings.warn(f"{os.fspath(path)}: {warning}", stacklevel=2)
    return graph


def load_machine(what: MachineLike = "this") -> Machine:
    """The preset of this name (`presets` lists them), else the machine of this file; or of a dict of the same members.

    Raises InvalidInput.
    """
    if isinstance(what, Machine):
        return what
    if isinstance(what, Mapping):
        return Machine.from_dict(dict(what))
    return _millrace.load_machine(os.fspath(what))


def load_plan(path: Path, graph: Graph | None = None) -> Plan:
    """The plan of a file. With the graph it is of it is checked to be valid, and may be one that an .onnx carries.

    Raises InvalidInput, naming the file.
    """
    return _millrace.load_plan(path, graph)


def methods() -> dict[str, Method]:
    """Every method of `schedule`, by name."""
    found = {}
    for told in _millrace.methods():
        options = tuple(MethodOption(**option) for option in told.pop("options"))
        found[told["name"]] = Method(options=options, **told)
    return found


def schedule(
    graph: Graph,
    machine: MachineLike = "this",
    method: str = "heft",
    *,
    proxy: Proxy | None = None,
    fusion: typing.Literal["none", "greedy", "merged"] | None = None,
    samples: int | None = None,
    iterations: int | None = None,
    time_limit: float | None = None,
    objective: str = "latency",
    pins: Mapping[str, str | int] | None = None,
    keep: Plan | None = None,
    keep_ops: Sequence[str] = (),
    seed: int = 0,
    threads: int = 0,
    weights: Path | None = None,
    **options: float | Sequence[float],
) -> Schedule:
    """The best plan that one method finds, by the cost model alone.

    The same seed gives the same plan at any number of threads, unless a time limit decides.

    proxy: the timeline plans are judged by; without it "contended" where the machine names channels, else "linear".
    fusion: fuse ops first; without it as the method chooses.
    samples: plans to draw and choose the best of, by methods that draw; with a time limit as many as that allows.
    iterations: steps of methods that search.
    time_limit: seconds.
    objective: "latency", "memory" (the fullest memory holds the least) or "throughput" (overlapping runs follow each
        other the soonest), the last two among plans that take at most 1.1 times what the fastest takes, or
        "memory,within=1.5", "memory,seconds=0.01"; Schedule.front then has all plans worth a choice.
    pins: by pattern of op names (* and ? stand for others) the device they run on, its name or number.
    keep: a plan of this graph whose groups stay as they are and on their devices; of it only those with ops of the
        patterns `keep_ops`, where there are any; after "!" all but these.
    threads: of learned methods; 0: all that this process may use.
    weights: of a learned method, in place of those that came with Millrace.
    options: what the method can be told (`methods`), temperature=0.02 for instance.

    Raises InvalidInput for a method there is none of and for what it does not take, WorkFailed where no plan it finds
    fits in memory.
    """
    return Schedule(
        **_millrace.schedule(
            graph,
            load_machine(machine),
            method,
            proxy,
            fusion,
            _count("samples", samples),
            _count("iterations", iterations),
            _seconds("time_limit", time_limit),
            objective,
            _pins(pins),
            keep,
            _patterns(keep_ops),
            _seed(seed),
            _threads(threads),
            _weights(weights),
            _settings(options),
        )
    )


def optimize(
    graph: Graph,
    machine: MachineLike = "this",
    target: str = "cpu",
    *,
    proxy: Proxy | None = None,
    samples: int | None = None,
    iterations: int | None = None,
    top_k: int = 16,
    methods: Sequence[str] = (),
    without: Sequence[str] = (),
    time_limit: float | None = None,
    objective: str = "latency",
    pins: Mapping[str, str | int] | None = None,
    keep: Plan | None = None,
    keep_ops: Sequence[str] = (),
    quick: bool = False,
    robust: bool = False,
    seed: int = 0,
    threads: int = 0,
    weights: Path | None = None,
    profile_cache: Path | None = None,
    output: Path | None = None,
    progress: Callable[[Progress], object] | None = None,
    **options: float | Sequence[float],
) -> OptimizeResult:
    """The fastest plan: many are proposed, a few good and different ones measured, the winner measured again.

    On a simulated target the same seed gives the same answer, unless a time limit decides.

    target: what plans are measured on: "cpu" (this host; the graph must be executable), "sim:NAME", or "cmd:WORDS", a
        program of yours that gets a plan's file and prints seconds.
    proxy: the timeline plans are judged by before; as for `schedule`.
    samples: plans drawn by each method that draws; iterations: steps of each that searches.
    top_k: plans that are measured.
    methods: only these, not all that a pool is made of. without: stages to leave out (`optimize_stages`).
    time_limit: seconds for all of it, profiling and writing too.
    objective, pins, keep, keep_ops: as for `schedule`.
    quick: less of everything, a first answer in 10 s.
    robust: plans are judged by the worse of two times, with their order kept and with whatever is ready first.
    weights: of the learned sampler. options: of methods that declare such ones; temperature=(0.01, 0.04) for instance.
    profile_cache: file that keeps op times between runs; without it one in the user's cache folder.
    output: folder for plans, report, trace and records; a second run goes on from its records.
    progress: called with a Progress now and then, on this thread. What it raises stops the work and is raised here.

    Raises InvalidInput (target and graph do not go together, no such method), WorkFailed (no plan fits in memory, every
    measurement failed).
    """
    if isinstance(methods, str) or isinstance(without, str):
        raise InvalidInput("methods and without are lists of names")
    return _millrace.optimize(
        graph,
        load_machine(machine),
        target,
        proxy,
        _count("samples", samples),
        _count("iterations", iterations),
        _whole("top_k", top_k, 1, 100000),
        list(methods),
        _settings(options),
        list(without),
        _seconds("time_limit", time_limit),
        objective,
        _pins(pins),
        keep,
        _patterns(keep_ops),
        bool(quick),
        bool(robust),
        _seed(seed),
        _threads(threads),
        _weights(weights),
        profile_cache,
        output,
        progress,
    )


def simulate(
    graph: Graph, plan: Plan, *, machine: MachineLike | None = None, proxy: Proxy | None = None
) -> Timeline:
    """When each group of the plan runs, by the cost model; on `machine` and by `proxy` in place of the plan's own.

    Raises InvalidInput where the plan is not valid for the graph and the machine.
    """
    return Timeline(**_millrace.simulate(graph, plan, None if machine is None else load_machine(machine), proxy))


def verify(graph: Graph, plan: Plan, *, machine: MachineLike | None = None) -> None:
    """Raises InvalidInput, naming the first rule it breaks, where the plan is not valid for the graph and its machine,
    or for `machine`. Memory is not asked here: Timeline.feasible says."""
    _millrace.verify(graph, plan, None if machine is None else load_machine(machine))


def lower_bounds(
    graph: Graph,
    machine: MachineLike = "this",
    *,
    groups: Sequence[Sequence[int]] | None = None,
    proxy: Proxy | None = None,
) -> LowerBounds:
    """What no plan of these groups, without them of single ops, can beat on the machine.

    Raises InvalidInput for groups that may not be fused.
    """
    given = None if groups is None else [list(group) for group in groups]
    return LowerBounds(**_millrace.lower_bounds(graph, load_machine(machine), given, proxy))
