#!/usr/bin/env bash
# install_test.sh BUILD SOURCE: what `cmake --install` leaves is enough for programs of others, by CMake, by pkg-config
# and as a folder of their project.
set -euo pipefail
build=$1 source=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >"$place/log"
installed=$place/prefix/bin/millrace
"$installed" --version
"$installed" generate towers --seed 2 -o "$place/model.onnx" --quiet
"$installed" schedule "$place/model.onnx" --machine homogeneous:2 --method go --samples 1 --json >"$place/schedule.json"
grep -q '"method": *"go"' "$place/schedule.json"

# Manual pages and completion of every verb.
share=$place/prefix/share
for verb in $("$installed" --help | sed -n '/^Subcommands/,$s/^  \([a-z]*\) .*/\1/p'); do
  gzip -dc "$share/man/man1/millrace-$verb.1.gz" | grep -q "millrace $verb"
  grep -q -- "-a $verb " "$share/fish/vendor_completions.d/millrace.fish"
done
# shellcheck disable=SC1091
source "$share/bash-completion/completions/millrace"
COMP_WORDS=(millrace optimize --time) COMP_CWORD=2
_millrace
test "${COMPREPLY[*]}" = "--time-limit"
COMP_WORDS=(millrace expl) COMP_CWORD=1
_millrace
test "${COMPREPLY[*]}" = "explain"

cmake -S "$source/examples" -B "$place/example" -DCMAKE_PREFIX_PATH="$place/prefix" >"$place/log"
cmake --build "$place/example" >"$place/log" || { cat "$place/log"; exit 1; }
MILLRACE_MODELS=$place/prefix/share/millrace/models "$place/example/plan_a_model" "$place/model.onnx" >"$place/plan"
grep -q " s by " "$place/plan"

# The Python package, where it was built: by a virtual environment's rules it lies in the prefix, and it finds the weights.
module=$(find "$place/prefix" -path '*/millrace/__init__.py')
if [ -n "$module" ]; then
  python=$(sed -n 's/^MILLRACE_PYTHON_PROGRAM:[A-Z]*=//p' "$build/CMakeCache.txt")
  packages=$(dirname "$(dirname "$module")")
  test "$packages" = "$place/prefix/$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib", "posix_prefix", {"base": "", "platbase": ""})[1:])')"
  test -e "$packages/millrace/py.typed"
  cat >"$place/plan.py" <<'CODE'
import sys
import millrace
graph = millrace.load(sys.argv[1])
print(millrace.__version__, millrace.schedule(graph, "homogeneous:2", "go", samples=1, threads=1).makespan_seconds)
CODE
  makespan=$(sed -n 's/.*"makespan_seconds": *\([-+.e0-9]*\).*/\1/p' "$place/schedule.json")
  (cd "$place" && PYTHONPATH=$packages "$python" -B plan.py model.onnx) >"$place/python"
  test "$(cut -d' ' -f1 "$place/python")" = "$("$installed" --version | cut -d' ' -f2)"
  "$python" -c "import sys; sys.exit(float(sys.argv[1]) != float(sys.argv[2]))" "$makespan" "$(cut -d' ' -f2 "$place/python")"
fi

config=$(dirname "$(find "$place/prefix" -name millrace.pc)")
cat >"$place/version.cc" <<'CODE'
#include <cstdio>
#include "millrace/machine/preset.h"
#include "millrace/version.h"
int main() { std::printf("%s %zu\n", MILLRACE_VERSION, millrace::MachinePreset("homogeneous:3")->devices.size()); }
CODE
# shellcheck disable=SC2046  # the flags are words
c++ -std=c++20 "$place/version.cc" -o "$place/version" $(PKG_CONFIG_PATH="$config" pkg-config --cflags --libs millrace)
test "$("$place/version")" = "$("$installed" --version | cut -d' ' -f2) 3"

mkdir "$place/host"
cat >"$place/host/CMakeLists.txt" <<CODE
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES CXX)
add_subdirectory($source millrace)
add_executable(host $place/version.cc)
target_link_libraries(host PRIVATE millrace::millrace)
foreach(unwanted command_test millrace-train millrace_bench)
  if(TARGET \${unwanted})
    message(FATAL_ERROR "\${unwanted} within another project")
  endif()
endforeach()
CODE
cmake -S "$place/host" -B "$place/host/build" >"$place/log" || { cat "$place/log"; exit 1; }
