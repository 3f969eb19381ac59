// `dcgmi diag`: runs the tests of a level and tells how each came out.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_session.h"
#include "app/dcgmi_tests.h"
#include "app/flag_values.h"
#include "app/version.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::DiagnosticTest;
using telemetry::TestResult;
using telemetry::Verdict;
using Json = nlohmann::ordered_json;

constexpr size_t kLeft = 25, kRight = 46;

struct Options {
  std::string run = "1", group, gpus, parameters;
  bool json = false, verbose = false;
};

struct LevelRow {
  std::string_view word;
  unsigned level;
};
constexpr std::array kLevels = {LevelRow{"1", 1}, LevelRow{"short", 1}, LevelRow{"quick", 1},
                                LevelRow{"2", 2}, LevelRow{"med", 2},   LevelRow{"medium", 2},
                                LevelRow{"3", 3}, LevelRow{"long", 3},  LevelRow{"hard", 3}};

std::string line(const std::string& left, const std::string& right) {
  std::string out, label = left;
  for (const std::string& part : broken_lines(right, kRight)) {
    out += format("| {:<{}} | {:<{}} |\n", label, kLeft, part, kRight);
    label.clear();
  }
  return out;
}
std::string rule(char c) {
  return format("+{}+{}+\n", std::string(kLeft + 2, c), std::string(kRight + 2, c));
}
// "|-----  Deployment  --------+-----…|"
std::string head(std::string_view category, char edge) {
  const std::string middle = format("-----  {}  ", category);
  return format("{}{:-<{}}+{}{}\n", edge, middle, kLeft + 2, std::string(kRight + 2, '-'), edge);
}

// "Pass - All", or each verdict with its GPUs.
std::string test_lines(const DiagnosticTest& test, bool verbose) {
  std::string out;
  std::map<Verdict, std::vector<unsigned>> gpus;
  for (const TestResult& result : test.results) {
    auto& list = gpus[result.verdict];
    if (result.gpu) list.push_back(*result.gpu);
  }
  std::string label(test.name);
  for (auto it = gpus.rbegin(); it != gpus.rend(); ++it) {
    std::string words(telemetry::name_of(it->first));
    if (!it->second.empty()) {
      std::string list;
      for (const unsigned gpu : it->second) list += format("{}{}", list.empty() ? "" : ", ", gpu);
      words += gpus.size() == 1 ? " - All" : format(" - GPU{}: {}", it->second.size() == 1 ? "" : "s", list);
    }
    out += line(std::exchange(label, ""), words);
  }
  // Why it is not a pass, each reason once.
  std::vector<std::string> told;
  for (const TestResult& result : test.results) {
    if (result.reason.empty() || (result.verdict == Verdict::kPass && !verbose)) continue;
    if (std::find(told.begin(), told.end(), result.reason) != told.end()) continue;
    told.push_back(result.reason);
    const std::string_view kind = result.verdict >= Verdict::kWarning ? "Warning" : "Info";
    out += line(std::string(kind), result.gpu && result.verdict >= Verdict::kWarning
                                       ? format("GPU {}: {}", *result.gpu, result.reason)
                                       : result.reason);
  }
  return out;
}

std::string as_text(const DcgmiSession& session, const std::vector<size_t>& places,
                    const std::vector<DiagnosticTest>& tests, bool verbose) {
  std::string out =
      "Successfully ran diagnostic for group.\n" + rule('-') + line("Diagnostic", "Result") + rule('=');
  out += head("Metadata", '|') + line("DCGM Version", format("pagoda {}", version()));
  const driver::Text& version_text = session.machine().driver.version;
  out += line("Driver Version Detected", version_text ? *version_text : "unknown");
  std::string ids;
  for (const size_t place : places) {
    const driver::Number& id = session.machine().gpus[place].pci.device_id;
    ids += format("{}{}", ids.empty() ? "" : ", ", id ? format("{:04x}", *id >> 16) : std::string("?"));
  }
  out += line("GPU Device IDs Detected", ids);
  std::string_view category;
  for (const DiagnosticTest& test : tests) {
    if (test.category != category) out += head(test.category, category.empty() ? '|' : '+');
    category = test.category;
    out += test_lines(test, verbose);
  }
  return out + rule('-');
}

std::string diagnostic_json(const DcgmiSession& session, const std::vector<DiagnosticTest>& tests) {
  Json categories = Json::array();
  for (const DiagnosticTest& test : tests) {
    if (categories.empty() || categories.back()["category"] != test.category)
      categories.push_back({{"category", test.category}, {"tests", Json::array()}});
    Json results = Json::array();
    for (const TestResult& result : test.results) {
      Json row;
      if (result.gpu) row["gpu_id"] = format("{}", *result.gpu);
      row["status"] = telemetry::name_of(result.verdict);
      if (!result.reason.empty())
        row[result.verdict >= Verdict::kWarning ? "warnings" : "info"] = result.reason;
      results.push_back(std::move(row));
    }
    categories.back()["tests"].push_back({{"name", test.name}, {"results", std::move(results)}});
  }
  Json out;
  out["DCGM Diagnostic"]["test_categories"] = std::move(categories);
  if (session.machine().driver.version)
    out["DCGM Diagnostic"]["Driver Version Detected"] = *session.machine().driver.version;
  return out.dump(4) + "\n";
}

// "targeted_stress.test_duration=5", in dcgmi's words; there is no other parameter.
Result<telemetry::HardwareTestOptions> read_parameters(const std::string& text) {
  telemetry::HardwareTestOptions options;
  if (text.empty()) return options;
  constexpr std::string_view kDuration = "targeted_stress.test_duration=";
  int seconds = 0;
  if (text.starts_with(kDuration) &&
      to_integer(&seconds, {1, 86400})(std::array{text.substr(kDuration.size())})) {
    options.stress = std::chrono::seconds(seconds);
    return options;
  }
  return fail(ErrorCode::kInvalidArgument,
              format("'{}' is no parameter; {}SECONDS is the one there is.", text, kDuration));
}

Result<std::vector<size_t>> chosen_gpus(const DcgmiSession& session, const telemetry::WatchState& state,
                                        const Options& o) {
  if (!o.gpus.empty()) {
    PAGODA_ASSIGN(const auto ids, telemetry::parse_entities(o.gpus, session.entities()));
    return session.gpus_of(ids);
  }
  PAGODA_ASSIGN(const ChosenGroup group, session.group(o.group, state));
  return session.gpus_of(group.entities);
}

}  // namespace

int run_dcgmi_diagnostic(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table;
  table.usage = format("{} -r 1|2|3 [-g GROUP | -i GPUS] [-v] [-j]", program);
  table.summary =
      "Tests: 1 the software, 2 also PCIe and memory, 3 also bandwidth and stress (2 and 3 use CUDA).";
  table.flags = {
      dcgmi_flag("run", {"r"}, "LEVEL", to_text(&o.run), "1 short, 2 medium, 3 long (default: 1)"),
      dcgmi_flag("group", {"g"}, "GROUP", to_text(&o.group), "of this group (default: all GPUs)"),
      dcgmi_flag("gpuList", {"i"}, "GPUS", to_text(&o.gpus), "of these GPUs, by comma"),
      dcgmi_flag("parameters", {"p"}, "TEST.NAME=VALUE", to_text(&o.parameters),
                 "targeted_stress.test_duration=SECONDS (default: 30)"),
      dcgmi_flag("verbose", {"v"}, "", to_switch(&o.verbose), "what was measured, too"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto level =
      std::find_if(kLevels.begin(), kLevels.end(), [&](const LevelRow& row) { return row.word == o.run; });
  if (level == kLevels.end())
    return dcgmi_failure(
        DcgmStatus::kBadParameter,
        o.run == "4" || o.run == "xlong"
            ? std::string("Level 4, the hours-long memory test, is not there; 1, 2 and 3 are.")
            : format("'{}' is no level: 1, 2 or 3.", o.run));
  const auto parameters = read_parameters(o.parameters);
  if (!parameters) return dcgmi_failure(DcgmStatus::kBadParameter, parameters.error().message);
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  const auto state = session->load_state();
  if (!state) return state.error();
  const auto places = chosen_gpus(*session, *state, o);
  if (!places) return dcgmi_failure(DcgmStatus::kBadParameter, places.error().message);
  if (places->empty()) return dcgmi_failure(DcgmStatus::kNoData, "The group has no GPUs.");
  if (level->level == 3) {
    if (const Status cuda = cuda_at_hand(*session); !cuda)
      return dcgmi_failure(
          DcgmStatus::kNotSupported,
          format("Level 3 needs a CUDA device: {}. Levels 1 and 2 run without.", cuda.error().message));
  }
  const auto tests = run_dcgmi_tests(*session, *places, level->level, *parameters);
  fmt::print("{}", o.json ? diagnostic_json(*session, tests) : as_text(*session, *places, tests, o.verbose));
  return worst_of(tests) == Verdict::kFailure ? telemetry::exit_status(DcgmStatus::kTestsFailed) : kExitOk;
}

}  // namespace pagoda::app
