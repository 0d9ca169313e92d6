// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <exception>

#include "classes.h"
#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/version.h"

namespace py = pybind11;

namespace {

// Names in a complaint may be of any bytes; Python's text may not.
void AddErrors(py::module_& module) {
  static const py::handle invalid =
      py::exception<millrace::InvalidInput>(module, "InvalidInput", PyExc_ValueError).release();
  static const py::handle failed =
      py::exception<millrace::WorkFailed>(module, "WorkFailed", PyExc_RuntimeError).release();
  invalid.attr("__doc__") = "Something given is not usable: a file, an argument, a plan for another graph.";
  failed.attr("__doc__") =
      "What was given is usable and the work still could not be done: no plan fits in memory, "
      "every measurement failed, the disk is full.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const millrace::InvalidInput& error) {
      PyErr_SetString(invalid.ptr(), millrace::Escaped(error.what()).c_str());
    } catch (const millrace::WorkFailed& error) {
      PyErr_SetString(failed.ptr(), millrace::Escaped(error.what()).c_str());
    }
  });
}

}  // namespace

PYBIND11_MODULE(_millrace, module) {
  module.doc() = "What the package millrace is made of; import that.";
  module.attr("__version__") = MILLRACE_VERSION;
  AddErrors(module);
  millrace::python::AddMachines(module);
  millrace::python::AddGraphs(module);
  millrace::python::AddPlans(module);
  millrace::python::AddPlanning(module);
  millrace::python::AddOptimizing(module);
}
