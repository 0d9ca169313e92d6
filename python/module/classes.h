// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "millrace/formats/load.h"

// The classes and functions of the module, by file. Objects are immutable, and what is large of them is held by shared
// pointers, so that work on other threads may go on with it.
namespace millrace::python {

// Class Graph.
struct GraphObject {
  std::shared_ptr<const LoadedGraph> loaded;

  const ComputationGraph& graph() const { return loaded->graph; }
};

void AddGraphs(pybind11::module_& module);
void AddMachines(pybind11::module_& module);
void AddPlans(pybind11::module_& module);
void AddPlanning(pybind11::module_& module);
void AddOptimizing(pybind11::module_& module);

}  // namespace millrace::python
