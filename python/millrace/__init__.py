# SPDX-License-Identifier: Apache-2.0
"""Plans how an ML model runs on a machine: which op on which device, in which order, fused with what.

    import millrace

    graph = millrace.load("model.onnx")
    result = millrace.optimize(graph, target="cpu")        # propose plans, measure a few, keep the fastest
    print(result.best.method, result.best.target_seconds)

    plan = millrace.schedule(graph, "homogeneous:4", "heft").plan
    timeline = millrace.simulate(graph, plan)
    print(timeline.makespan_seconds, timeline.start, timeline.finish, timeline.device)

Times are seconds, sizes are bytes. What is given wrongly raises InvalidInput, a ValueError; work that fails raises
WorkFailed, a RuntimeError. Ctrl-C stops long work within about a second, and other threads run meanwhile.
"""

import numpy as _numpy  # noqa: F401 -- missing, it should be missed here, not in the middle of work

from ._millrace import (
    Baseline,
    Candidate,
    DefaultLink,
    Device,
    Graph,
    GroupTime,
    InvalidInput,
    Link,
    Machine,
    Op,
    OptimizeResult,
    Plan,
    Progress,
    Tensor,
    WorkFailed,
    __version__,
    optimize_stages,
    presets,
)
from ._verbs import (
    LowerBounds,
    Method,
    MethodOption,
    Schedule,
    Timeline,
    load,
    load_machine,
    load_plan,
    lower_bounds,
    methods,
    optimize,
    schedule,
    simulate,
    verify,
)

__all__ = [
    "Baseline",
    "Candidate",
    "DefaultLink",
    "Device",
    "Graph",
    "GroupTime",
    "InvalidInput",
    "Link",
    "LowerBounds",
    "Machine",
    "Method",
    "MethodOption",
    "Op",
    "OptimizeResult",
    "Plan",
    "Progress",
    "Schedule",
    "Tensor",
    "Timeline",
    "WorkFailed",
    "__version__",
    "load",
    "load_machine",
    "load_plan",
    "lower_bounds",
    "methods",
    "optimize",
    "optimize_stages",
    "presets",
    "schedule",
    "simulate",
    "verify",
]

for _name in __all__:
    _thing = globals()[_name]
    if isinstance(_thing, type):
        _thing.__module__ = __name__  # the name by which they are found, in messages and pickles
del _name, _thing
