// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/apps/command.h"

namespace millrace {
namespace {

using ::testing::AnyOf;
using testing::Command;
using testing::ContentOf;
using ::testing::HasSubstr;
using testing::Json;
using testing::Outcome;

class CommandOrt : public Command {
 protected:
  CommandOrt() {
    Do("generate towers --hidden 16 --batch 2 --towers 3 --layers 2 -o m.onnx");
    Do("schedule m.onnx --machine this --method heft -o plan.json");
  }

  // Words of the shell that show the command the ONNX Runtime of the tests, where there is one.
  static std::string WithLibrary() {
    return "test -n \"$MILLRACE_ONNXRUNTIME\" || export "
           "NODE_PATH=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/npm/node_modules";
  }
  // Empty where the library is here; else the line that says it is not.
  std::string WhyNoLibrary() const {
    const Outcome outcome = RunAfter(WithLibrary(), "measure m.onnx --plan plan.json --target ort --json");
    return outcome.exit_code == 0 ? "" : outcome.err;
  }
};

TEST_F(CommandOrt, ExportsAPlanAsPartsAndAManifest) {
  const Json exported = Do("export ort m.onnx --plan plan.json -o parts --json").json();
  const Json manifest = Json::parse(ContentOf(Path("parts/manifest.json")));
  EXPECT_EQ(manifest["format"], "millrace.parts");
  EXPECT_EQ(manifest["parts"].size(), exported["parts"].get<std::size_t>());
  std::set<int> ops;
  for (const Json& part : manifest["parts"]) {
    for (const Json& op : part["ops"]) EXPECT_TRUE(ops.insert(op.get<int>()).second);
    EXPECT_THAT(Do("inspect parts/" + part["file"].get<std::string>()).out, HasSubstr("ops"));
  }
  EXPECT_EQ(ops.size(), Do("inspect m.onnx --json").json()["ops"].get<std::size_t>());
  EXPECT_THAT(Do("export ort m.onnx --plan plan.json -o parts").out, HasSubstr("parts/manifest.json: "));
}

TEST_F(CommandOrt, RefusesToExportWhatIsNoModelOrNotItsPlan) {
  GenerateGraph();
  Refuses("export ort g.json --plan plan.json -o parts", "give an ONNX file");
  Refuses("export ort m.onnx --plan nothing.json -o parts", "nothing.json");
  Refuses("export ort m.onnx --plan plan.json -o m.onnx", "m.onnx");
  Refuses("export m.onnx --plan plan.json -o parts", "there is no engine 'm.onnx'");
  EXPECT_FALSE(std::filesystem::exists(Path("parts/manifest.json")));
}

TEST_F(CommandOrt, RefusesALibraryThatIsNoneInOneLine) {
  const std::string measure = "measure m.onnx --plan plan.json --target ";
  Refuses(measure + "ort,library=/nowhere/libonnxruntime.so", "there is no such library");
  Write("text.so", "text");
  Refuses(measure + "ort,library=text.so", "cannot be loaded");
  Refuses(measure + "ort,librari=text.so", "it takes library=PATH");
  Refuses(measure + "ort,library=", "it takes library=PATH");
  Refuses(measure + "orthodox", "there is no target 'orthodox'");
  GenerateGraph();
  Refuses("optimize g.json --target ort", "give an ONNX file");
}

TEST_F(CommandOrt, MeasuresAndOptimizesWhereTheLibraryIs) {
  const std::string why = WhyNoLibrary();
  if (!why.empty()) GTEST_SKIP() << "needs ONNX Runtime (script/bootstrap --test fetches it): " << why;
  const Outcome measured =
      RunAfter(WithLibrary(), "measure m.onnx --plan plan.json --target ort --repetitions 3 --json");
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_EQ(measured.json()["times"].size(), 3u);
  EXPECT_GT(measured.json()["median_seconds"].get<double>(), 0);

  const Outcome optimized = RunAfter(WithLibrary(),
                                     "optimize m.onnx --target ort --quick --samples 20 --iterations 200 --top-k 4 "
                                     "--profile-cache cache.jsonl --json -o result");
  ASSERT_EQ(optimized.exit_code, 0) << optimized.err;
  const Json result = optimized.json();
  EXPECT_GT(result["best"]["target_seconds"].get<double>(), 0);
  // What ONNX Runtime does by itself stays the answer where nothing is surely faster.
  for (const auto& [name, seconds] : result["baselines"].items()) {
    if (result["best"]["method"] == "all-cores") break;
    EXPECT_LE(result["best"]["target_seconds"].get<double>(), seconds.get<double>()) << name;
  }
  EXPECT_THAT(ContentOf(Path("cache.jsonl")), HasSubstr("onnxruntime 1."));
  EXPECT_EQ(Do("export ort m.onnx --plan result/plan.json -o parts").exit_code, 0);
}

TEST_F(CommandOrt, HoldsItsPlansAgainstThoseOfOurRuntime) {
  const std::string why = WhyNoLibrary();
  if (!why.empty()) GTEST_SKIP() << "needs ONNX Runtime (script/bootstrap --test fetches it): " << why;
  const Outcome compared =
      RunAfter(WithLibrary(), "bench engines --planning-seconds 2 --seconds 0.5 --models towers --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const Json tables = compared.json()["tables"];
  ASSERT_EQ(tables["engines"].size(), 2u);
  EXPECT_EQ(tables["engines"][0]["engine"], "ort");
  EXPECT_EQ(tables["engines"][1]["engine"], "cpu");
  for (const Json& mean : tables["means"]) EXPECT_GT(mean["best way / best plan"].get<double>(), 0);
  EXPECT_EQ(tables["means"].size(), 2u);
}

}  // namespace
}  // namespace millrace
