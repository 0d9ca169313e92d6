// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/stg.h"

#include <algorithm>
#include <vector>

#include "millrace/errors/errors.h"
#include "millrace/errors/shown.h"
#include "millrace/formats/text_lines.h"

namespace millrace {
namespace {

// The next line that says something; false where the comment begins or the text ends.
bool NextTaskLine(TextLines& lines, std::string_view& line) {
  while (lines.Next(line)) {
    line = Trimmed(line);
    if (line.starts_with('#')) return false;
    if (!line.empty()) return true;
  }
  return false;
}

struct Task {
  double seconds = 0;
  std::vector<int> predecessors;
};

Task TaskIn(const TextLines& lines, std::string_view line, int expected, int last) {
  const std::string_view id = TakeWord(line);
  if (IdIn(id) != expected)
    lines.Refuse("task " + std::to_string(expected) + " must stand here, not '" + Shown(id) + "'");
  Task task;
  const std::string_view time = TakeWord(line);
  const auto seconds = CostIn(time);
  if (!seconds) lines.Refuse("the processing time '" + Shown(time) + "' is no finite number >= 0");
  task.seconds = *seconds;
  const std::string_view count_word = TakeWord(line);
  const auto count = IdIn(count_word);
  if (!count) lines.Refuse("the number of predecessors '" + Shown(count_word) + "' is no whole number >= 0");
  for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
    const auto predecessor = IdIn(word);
    if (!predecessor || *predecessor > last)
      lines.Refuse("the predecessor '" + Shown(word) + "' is no task; there are tasks 0.." + std::to_string(last));
    task.predecessors.push_back(*predecessor);
  }
  if (task.predecessors.size() != static_cast<std::size_t>(*count)) {
    lines.Refuse("task " + std::to_string(expected) + " says it has " + std::to_string(*count) +
                 " predecessors and lists " + std::to_string(task.predecessors.size()));
  }
  return task;
}

}  // namespace

ComputationGraph ParseStg(std::string_view text, const std::string& name) {
  TextLines lines(text);
  std::string_view line;
  if (!NextTaskLine(lines, line)) throw InvalidInput("holds no tasks; the first line of an .stg file is their number");
  const auto tasks = IdIn(line);
  // Every task takes a line of at least six bytes, so the text itself bounds what its first line may claim.
  if (!tasks || static_cast<std::size_t>(*tasks) > text.size())
    lines.Refuse("'" + Shown(line) + "' is no number of tasks that this file could hold");
  const int last = *tasks + 1;

  GraphData data;
  data.name = name;
  std::vector<std::vector<OpId>> successors(static_cast<std::size_t>(*tasks));
  for (int id = 0; id <= last; ++id) {
    if (!NextTaskLine(lines, line)) {
      throw InvalidInput("ends after " + std::to_string(id) + " tasks; its first line promises " +
                         std::to_string(*tasks) + " and two dummies");
    }
    const Task task = TaskIn(lines, line, id, last);
    const bool dummy = id == 0 || id == last;
    if (dummy && task.seconds != 0)
      lines.Refuse("task " + std::to_string(id) + " is the format's dummy and must take no time");
    if (id == 0 && !task.predecessors.empty()) lines.Refuse("task 0 is the dummy entry and has no predecessors");
    for (const int predecessor : task.predecessors) {
      if (predecessor == last) lines.Refuse("the dummy exit is nobody's predecessor");
      if (!dummy && predecessor > 0) successors[static_cast<std::size_t>(predecessor - 1)].push_back(id - 1);
    }
    if (dummy) continue;
    Op op;
    op.name = "task" + std::to_string(id);
    op.type = "Task";
    op.seconds.everywhere = task.seconds;
    data.ops.push_back(std::move(op));
  }
  if (NextTaskLine(lines, line)) lines.Refuse("'" + Shown(line) + "' stands after the last task");

  for (std::size_t op = 0; op < successors.size(); ++op) {
    if (successors[op].empty()) continue;
    Tensor tensor;
    tensor.name = data.ops[op].name + " done";
    tensor.producer = static_cast<OpId>(op);
    tensor.consumers = std::move(successors[op]);
    data.tensors.push_back(std::move(tensor));
  }
  return ComputationGraph(std::move(data));
}

}  // namespace millrace
