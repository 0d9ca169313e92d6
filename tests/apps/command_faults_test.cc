// SPDX-License-Identifier: Apache-2.0
// The command before hostile words and files, full disks, too little memory and impatient users.
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <initializer_list>
#include <map>
#include <regex>
#include <thread>
#include <vector>

#include "tests/apps/command.h"
#include "tests/reference/sanitized.h"

namespace millrace {
namespace {

using testing::Command;
using testing::ContentOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Json;
using testing::kMachine;
using testing::Outcome;

constexpr std::size_t kLongestLine = 300;

class CommandFaults : public Command {
 protected:
  // Every verb, and every experiment of bench.
  std::vector<std::string> AllVerbs() const {
    std::vector<std::string> verbs = {"convert",  "generate", "inspect",  "machine",   "measure",
                                      "optimize", "run",      "schedule", "simulate",  "bench",
                                      "explain",  "compare",  "report",   "export ort"};
    const Json listed = Do("bench --json").json();
    for (const Json& experiment : listed["experiments"])
      verbs.push_back("bench " + experiment["name"].get<std::string>());
    return verbs;
  }

  // By type, the flags of a verb that take a number: "INT", "UINT", "FLOAT".
  std::multimap<std::string, std::string> NumberFlags(const std::string& verb) const {
    const std::string help = Do(verb + " --help").out;
    const std::regex flag("\n  (?:-[a-z],)?(--[a-z-]+) (U?INT|FLOAT)");
    std::multimap<std::string, std::string> flags;
    for (std::sregex_iterator match(help.begin(), help.end(), flag), end; match != end; ++match)
      flags.emplace((*match)[2], (*match)[1]);
    return flags;
  }

  std::vector<std::string> FilesIn(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / folder))
      names.push_back(entry.path().filename().string());
    return names;
  }

  // Starts the command, sends it the signal when it has had time to get going, and waits for its end. Kills it where
  // that does not come: the test then fails, and does not hang.
  Outcome Interrupted(std::vector<std::string> words, int signal, std::chrono::milliseconds after) const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      if (::chdir(folder_.c_str()) != 0 || std::freopen("err.txt", "w", stderr) == nullptr ||
          std::freopen("out.txt", "w", stdout) == nullptr)
        ::_exit(90);
      words.insert(words.begin(), "millrace");
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(MILLRACE_COMMAND, arguments.data());
      ::_exit(91);
    }
    std::this_thread::sleep_for(after);
    ::kill(child, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ContentOf(Path("out.txt")),
            ContentOf(Path("err.txt"))};
  }

  // A graph and a machine whose names would clear the screen, end the line and colour the rest.
  void WriteHostileFiles() const {
    const std::string evil = "evil\x1b[2J\n\x7f\u009b31m\u202e<b>";
    Json graph{{"format", "millrace.graph"}, {"version", 1}, {"name", evil}, {"tensors", Json::array()}};
    for (int op = 0; op < 3; ++op)
      graph["ops"].push_back({{"name", evil + std::to_string(op)}, {"type", evil}, {"seconds", {{evil, 1 + op}}}});
    Write("evil.json", graph.dump());
    Json machine{{"format", "millrace.machine"}, {"version", 1}, {"name", evil}, {"links", Json::array()}};
    for (int device = 0; device < 2; ++device) {
      machine["devices"].push_back({{"name", evil},
                                    {"kind", evil},
                                    {"units", {device}},
                                    {"flops_per_second", 1e12},
                                    {"memory_bandwidth", 1e11},
                                    {"launch_seconds", 0}});
    }
    Write("evil_machine.json", machine.dump());
  }
};

// Nothing but line ends, and characters that are seen as themselves.
void ExpectHarmless(const std::string& text, const std::string& where) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(c == '\n' || (byte >= 0x20 && byte != 0x7f)) << where << ": byte " << int{byte};
  }
  EXPECT_EQ(text.find("\u009b"), std::string::npos) << where;
  EXPECT_EQ(text.find("\u202e"), std::string::npos) << where;
}

TEST_F(CommandFaults, RefuseNumbersThatDoNotFitTheirFlagInOneShortLine) {
  const std::vector<std::string> never = {"nan", "1e999", "-1e999", "ten", "", "1 2", std::string(400, '9')};
  const std::map<std::string, std::vector<std::string>> bad = {
      {"UINT", {"-1", "18446744073709551616", "0x10", "010", "1.5"}},
      {"INT", {"-9223372036854775809", "9223372036854775808", "0x10", "010", "1.5"}},
      {"FLOAT", {"inf", "-inf"}},
  };
  int flags = 0;
  for (const std::string& verb : AllVerbs()) {
    for (const auto& [type, flag] : NumberFlags(verb)) {
      if (verb != "bench" && verb.starts_with("bench") && (flag == "--seed" || flag == "--threads")) continue;
      ++flags;
      std::vector<std::string> all = bad.at(type);
      all.insert(all.end(), never.begin(), never.end());
      // Some 2000 runs; sanitizers have one for each flag.
      const std::size_t step = testing::kSanitized ? all.size() : 1;
      for (std::size_t i = static_cast<std::size_t>(flags) % step; i < all.size(); i += step) {
        const std::string& number = all[i];
        const std::string words = verb + " '" + flag + "=" + number + "'";
        const Outcome outcome = Run(words);
        EXPECT_EQ(outcome.exit_code, 2) << words << "\n" << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(flag)) << words;
        EXPECT_EQ(outcome.out, "") << words;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << words;
        EXPECT_LT(outcome.err.size(), kLongestLine) << words;
        if (number.starts_with("-9") || number.starts_with("92")) {
          EXPECT_THAT(outcome.err, HasSubstr("is not a whole number from ")) << "the range is told";
        }
      }
    }
  }
  EXPECT_GT(flags, 50);
}

TEST_F(CommandFaults, TellTheRangeOfASeedAndTakeAllOfIt) {
  for (const std::string seed : {"-1", "18446744073709551616", "99999999999999999999999999"})
    Refuses("generate er -o g.json --seed " + seed,
            "--seed: '" + seed + "' is not a whole number from 0 to 18446744073709551615");
  Do("generate er -o g.json --seed 18446744073709551615");
  Refuses("inspect g.json --dim N=99999999999999999999", "--dim");
  Refuses("inspect g.json --dim N=-1", "--dim");
  Refuses("schedule g.json --method anneal --chains 1.5", "--chains of anneal is a whole number from 1 to 1000");
  Refuses("generate er -o g.json --kinds a=nan", "kinds");
}

TEST_F(CommandFaults, ShowTextOfOthersEscapedOnTerminalsAndPages) {
  WriteHostileFiles();
  const std::string shown = "evil\\x1b[2J\\n\\x7f\\u009b31m\\u202e";
  const std::string on = " evil.json --machine evil_machine.json ";
  for (const std::string& words :
       {std::string("inspect evil.json"), std::string("inspect evil_machine.json"), "schedule" + on + "-o plan.json",
        std::string("inspect plan.json"), "simulate" + on + "--plan plan.json --gantt",
        "explain" + on + "--plan plan.json", "compare" + on + "--plan plan.json --with plan.json",
        "optimize" + on + "--target sim:noise --quick --samples 4 --iterations 50 -o result"}) {
    const Outcome outcome = Do(words);
    ExpectHarmless(outcome.out, words);
    ExpectHarmless(outcome.err, words);
    if (!words.starts_with("schedule")) {
      EXPECT_THAT(outcome.out, HasSubstr(shown)) << words;
    }
    if (words.starts_with("optimize")) continue;
    const Outcome as_json = Do(words + " --json");
    ExpectHarmless(as_json.out, words);
    EXPECT_TRUE(as_json.json().is_object());
  }
  ExpectHarmless(Do("machine evil_machine.json").out, "machine");
  EXPECT_EQ(Json::parse(Do("machine evil_machine.json").out)["name"],
            Json::parse(ContentOf(Path("evil.json")))["name"]);
  ExpectHarmless(ContentOf(Path("result/report.html")), "report.html");
  EXPECT_THAT(ContentOf(Path("result/report.html")), HasSubstr(shown));
}

TEST_F(CommandFaults, ShowFileNamesEscapedInComplaints) {
  for (const std::string words :
       {"inspect \"$(printf 'no\\033[31m.json')\"", "schedule g.json --method \"$(printf 'a\\033[31m')\"",
        "\"$(printf 'fly\\033[31m')\"", "schedule g.json --\"$(printf 'x\\033[31m')\"=1",
        "inspect \"$(printf 'no\\233.json')\""}) {
    GenerateGraph();
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    ExpectHarmless(outcome.err, words);
    EXPECT_THAT(outcome.err, ::testing::AnyOf(HasSubstr("\\x1b[31m"), HasSubstr("\\x9b.json"))) << words;
  }
  const Outcome lengthy = Run("inspect " + std::string(100'000, 'x'));
  EXPECT_EQ(lengthy.exit_code, 2);
  EXPECT_LT(lengthy.err.size(), 2000U);
  EXPECT_THAT(lengthy.err, HasSubstr("..."));
  EXPECT_THAT(lengthy.err, HasSubstr(": could not be read: File name too long\n"));
}

TEST_F(CommandFaults, FailWhereStandardOutputTakesNothing) {
  GenerateGraph();
  Do("generate towers --seed 2 -o m.onnx");
  Do(std::string("schedule g.json ") + kMachine + " -o plan.json");
  for (const std::string& words :
       {std::string("--help"), std::string("--version"), std::string("schedule --help"), std::string("bench"),
        std::string("bench quality --help"), std::string("bench quality --quick --methods heft"),
        std::string("schedule g.json ") + kMachine, std::string("simulate g.json --plan plan.json"),
        std::string("measure g.json --plan plan.json --target sim:noise"), std::string("inspect g.json"),
        std::string("machine p100x2"), std::string("convert g.json -"), std::string("convert g.json h.json"),
        std::string("generate er -o h.json"), std::string("run m.onnx --random-inputs --output-dir out"),
        std::string("optimize g.json --target sim:noise --quick --samples 4 --iterations 50 -o result ") + kMachine}) {
    for (const std::string json : {"", " --json"}) {
      const Outcome outcome = Run(words + json + " >/dev/full");
      EXPECT_EQ(outcome.exit_code, 1) << words << json;
      EXPECT_THAT(outcome.err, HasSubstr("millrace: stdout: could not be written")) << words << json;
    }
  }
}

TEST_F(CommandFaults, PutNothingIntoFilesInThePlaceOfStreamsThatAreClosed) {
  GenerateGraph();
  const Outcome outcome = Run(std::string("schedule g.json ") + kMachine + " -o plan.json >&-");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_TRUE(Json::accept(ContentOf(Path("plan.json"))));
}

TEST_F(CommandFaults, LeaveNothingBehindWhereAFileCannotBeWritten) {
  GenerateGraph();
  Do("generate towers --seed 2 -o m.onnx");
  const std::string machine = std::string(" ") + kMachine;
  for (const std::string& words : {"schedule g.json -o" + machine, std::string("machine p100x8 -o"),
                                   std::string("convert g.json"), std::string("generate er -o")}) {
    std::string to_full = words;
    const std::size_t flag = words.find("-o");
    to_full = flag == std::string::npos ? words + " /dev/full"
                                        : words.substr(0, flag + 2) + " /dev/full" + words.substr(flag + 2);
    const Outcome full = Run(to_full);
    EXPECT_EQ(full.exit_code, 1) << to_full;
    EXPECT_THAT(full.err, HasSubstr("/dev/full: could not be written: ")) << to_full;
  }
  // A disk with room for a kilobyte.
  std::filesystem::create_directories(folder_ / "new");
  for (const std::string& words :
       {"schedule g.json -o new/plan.json" + machine, std::string("convert g.json new/g.json"),
        std::string("generate er -o new/g.json"), std::string("generate towers -o new/m.onnx"),
        std::string("convert m.onnx new/m.onnx"), std::string("machine p100x8 -o new/m.json"),
        std::string("run m.onnx --random-inputs --output-dir new")}) {
    const Outcome outcome = RunAfter("ulimit -f 1", words);
    EXPECT_EQ(outcome.exit_code, 1) << words << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << words << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("millrace: new/")) << words;
    EXPECT_THAT(FilesIn("new"), IsEmpty()) << words;
  }
}

#ifndef MILLRACE_SANITIZED
TEST_F(CommandFaults, SayInOneLineThatMemoryIsShort) {
  for (const std::string words : {"generate layered --ops 5000000 -o g.json", "generate bert_base -o m.onnx"}) {
    const Outcome outcome = RunAfter("ulimit -v 600000", words);
    EXPECT_EQ(outcome.exit_code, 1) << words << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("millrace: this takes more memory than there is")) << words;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << words << "\n" << outcome.err;
  }
  EXPECT_THAT(FilesIn("."), ::testing::UnorderedElementsAre("out.txt", "err.txt"));
}
#endif

TEST_F(CommandFaults, EndOnASignalWhileAPipeGivesOrTakesNothing) {
  GenerateGraph();
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(Path("pipe.onnx").c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"inspect", "pipe"},
                                                  {"inspect", "pipe.onnx"},
                                                  {"schedule", "g.json", "--machine", "pipe"},
                                                  {"convert", "g.json", "pipe"}}) {
      const Outcome outcome = Interrupted(words, signal, std::chrono::milliseconds(500));
      EXPECT_EQ(outcome.exit_code, 1) << words[0] << " " << words[1];
      EXPECT_EQ(outcome.err, "millrace: interrupted\n");
    }
  }
}

TEST_F(CommandFaults, EndOnASignalWhileAModelRunsOrIsMeasured) {
  Do("generate squeezenet --image 64 --seed 2 -o m.onnx");
  Do("schedule m.onnx -o plan.json");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"measure", "m.onnx", "--plan", "plan.json", "--repetitions", "1000000"},
        {"measure", "m.onnx", "--plan", "plan.json", "--target", "cmd-sh:sleep 600"},
        {"optimize", "m.onnx", "--profile-cache", "", "-o", "result"}}) {
    const Outcome outcome = Interrupted(words, SIGTERM, std::chrono::seconds(2));
    EXPECT_EQ(outcome.exit_code, 1) << words[0];
    EXPECT_THAT(outcome.err, HasSubstr("millrace: interrupted\n")) << words[0];
  }
  EXPECT_THAT(FilesIn("result"), ::testing::Each(::testing::Not(HasSubstr("plan"))));
}

TEST_F(CommandFaults, PassOverRecordsOfTimesThatNoRunTakes) {
  GenerateGraph();
  const std::string words = std::string("optimize g.json ") + kMachine +
                            " --target sim:contention --samples 10 --iterations 100 --json -o result";
  const Json honest = Do(words).json();
  const std::string records = ContentOf(Path("result/records.jsonl"));
  const auto with_times = [&records](const std::string& time) {
    const std::string list = "\"times\":[";
    std::string changed = records;
    for (std::size_t at = changed.find(list); at != std::string::npos; at = changed.find(list, at + 1))
      changed.replace(at + list.size(), changed.find(']', at) - at - list.size(), time);
    return changed;
  };
  for (const std::string time : {"-1", "0", "1e-300", "1e308", "NaN", "1e999"}) {
    Write("result/records.jsonl", with_times(time));
    const Json again = Do(words).json();
    EXPECT_EQ(again["plans_recalled"], 0) << time;
    EXPECT_EQ(again["best"], honest["best"]) << time;
    EXPECT_THAT(again["warnings"].front().get<std::string>(),
                HasSubstr("result/records.jsonl:1: no record, passed over: times[0]: "));
  }
}

TEST_F(CommandFaults, LearnNothingFromATargetThatTellsNothing) {
  GenerateGraph();
  const std::string words = std::string("optimize g.json ") + kMachine +
                            " --target 'cmd-sh:echo 0.25' --quick --samples 10 --iterations 100 --top-k 12 -o result";
  const Outcome text = Do(words);
  EXPECT_THAT(text.out, HasSubstr("the target makes no difference"));
  EXPECT_THAT(text.out, HasSubstr("\n  proxy against target: median error "));
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("1.00x")));
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("transfers seem")));
  const std::string page = ContentOf(Path("result/report.html"));
  EXPECT_THAT(page, HasSubstr("<p class=\"verdict even\">250.000 ms <small>Every plan that was measured"));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("1.00&times;")));
  EXPECT_EQ(Do(words + " --json").json()["target_indifferent"], true);
}

TEST_F(CommandFaults, TellPeopleTimesInOneWayEverywhere) {
  Write(
      "ms.json",
      R"({"format":"millrace.graph","version":1,"name":"x","ops":[{"name":"a","type":"t","seconds":0.0125}],"tensors":[]})");
  const std::string schedule = "schedule ms.json --machine homogeneous:1 -o plan.json";
  EXPECT_THAT(Do(schedule).out, HasSubstr("makespan 12.500 ms"));
  EXPECT_EQ(Do(schedule + " --json").json()["makespan_seconds"], 0.0125);
  EXPECT_THAT(Do("simulate ms.json --plan plan.json").out, HasSubstr("makespan 12.500 ms"));
  EXPECT_THAT(Do("inspect plan.json").out, HasSubstr("proxy 12.500 ms"));
  EXPECT_THAT(Do("measure ms.json --plan plan.json --target sim:contention").out, HasSubstr("median 12.500 ms"));
}

}  // namespace
}  // namespace millrace
