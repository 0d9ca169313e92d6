// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/machine/proxy.h"

// Between what Millrace has and what Python has.
namespace millrace::python {

// The text as json.loads reads it.
pybind11::object ObjectOfJson(const std::string& text);

// As json.dumps writes it, arrays and scalars of numpy included. Throws Python's TypeError and ValueError.
std::string JsonOfObject(const pybind11::object& object);

// The name of a file as Millrace opens it. Python's os.fspath decides what is one.
std::string PathOf(const pybind11::object& path);

// An array that owns its numbers and cannot be written to.
template <typename Number>
pybind11::array_t<Number> ArrayOf(const std::vector<Number>& numbers) {
  pybind11::array_t<Number> array(static_cast<pybind11::ssize_t>(numbers.size()), numbers.data());
  array.attr("setflags")(pybind11::arg("write") = false);
  return array;
}

// Throws InvalidInput for a name of no proxy.
std::optional<Proxy> ProxyOf(const std::optional<std::string>& name);

}  // namespace millrace::python
