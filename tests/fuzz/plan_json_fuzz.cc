// SPDX-License-Identifier: Apache-2.0
#include "millrace/formats/plan_json.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::TakesOrRefuses(data, size, [](std::string_view text) {
    const PlanRecord record = ParsePlanJson(text);
    const PlanRecord again = ParsePlanJson(PlanJson(record));
    fuzz::Require(again.plan == record.plan && again.machine == record.machine && again.seed == record.seed);
  });
}
