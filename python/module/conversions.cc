// SPDX-License-Identifier: Apache-2.0
#include "conversions.h"

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"

namespace py = pybind11;

namespace millrace::python {

py::object ObjectOfJson(const std::string& text) {
  return py::module_::import("json").attr("loads")(py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace")));
}

std::string JsonOfObject(const py::object& object) {
  const py::cpp_function numbers([](const py::object& other) -> py::object {
    if (py::hasattr(other, "tolist")) return other.attr("tolist")();
    throw py::type_error("a " + py::str(py::type::of(other).attr("__name__")).cast<std::string>() +
                         " cannot be written as JSON");
  });
  return py::module_::import("json")
      .attr("dumps")(object, py::arg("allow_nan") = false, py::arg("ensure_ascii") = true, py::arg("default") = numbers)
      .cast<std::string>();
}

std::string PathOf(const py::object& path) {
  const auto text = py::reinterpret_steal<py::object>(PyOS_FSPath(path.ptr()));
  PyObject* bytes = nullptr;
  if (!text || PyUnicode_FSConverter(text.ptr(), &bytes) == 0) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes).cast<std::string>();
}

std::optional<Proxy> ProxyOf(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  const std::optional<Proxy> proxy = ProxyNamed(*name);
  if (!proxy) throw InvalidInput("proxy '" + Shown(*name) + "' is neither \"linear\" nor \"contended\"");
  return proxy;
}

}  // namespace millrace::python
