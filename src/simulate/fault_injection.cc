#include "simulate/fault_injection.h"

#include <unistd.h>

#include "base/format.h"
#include "simulate/machine.h"
#include "simulate/scenario.h"
#include "simulate/shared_state.h"

namespace pagoda::simulate {
namespace {

constexpr double kMomentS = 0.2;  // longer than writing the file takes

// One assignment as an overlay, by way of YAML, so that it is read and checked as a control file is.
Result<Overlay> parse_assignment(const std::string& assignment) {
  const size_t equals = assignment.find('='), dot = assignment.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals)
    return fail(ErrorCode::kInvalidArgument,
                format("'{}' is not of the form GPU.KEY=VALUE, as in 0.temperature.gpu=95", assignment));
  const std::string selector = assignment.substr(0, dot), key = assignment.substr(dot + 1, equals - dot - 1);
  const std::string value = assignment.substr(equals + 1);
  const std::string text = selector == "system"
                               ? format("system: {{'{}': {}}}", key, value)
                               : format("gpus: {{'{}': {{'{}': {}}}}}", selector, key, value);
  return parse_overlay(text, assignment);
}

void add(const Overlay& from, Overlay& to) {
  for (const auto& [key, value] : from.system) to.system[key] = value;
  for (const auto& [selector, record] : from.gpus) {
    for (const auto& [key, value] : record) to.gpus[selector][key] = value;
  }
}

}  // namespace

Status lay_over(const std::string& scenario, const std::vector<std::string>& assignments) {
  PAGODA_ASSIGN(const Scenario machine, load_scenario(scenario));
  Overlay fresh;
  for (const std::string& assignment : assignments) {
    PAGODA_ASSIGN(const Overlay one, parse_assignment(assignment));
    for (const auto& [selector, record] : one.gpus) {
      if (selector != "all" && (selector.size() > 4 || std::stoul(selector) >= machine.gpus.size()))
        return fail(ErrorCode::kNotFound,
                    format("{} has no GPU {}; it has {}", scenario, selector, machine.gpus.size()));
    }
    add(one, fresh);
  }
  PAGODA_ASSIGN(const SharedPaths paths, shared_paths(scenario));
  return change_overlay(paths.control, [&](Overlay& control) { add(fresh, control); });
}

Status raise_xid(const std::string& scenario, unsigned gpu, unsigned xid) {
  PAGODA_ASSIGN(const auto machine, Machine::open(scenario));
  if (gpu >= machine->gpu_count())
    return fail(ErrorCode::kNotFound,
                format("{} has no GPU {}; it has {}", scenario, gpu, machine->gpu_count()));
  PAGODA_ASSIGN(const SharedPaths paths, shared_paths(scenario));
  return change_overlay(paths.control, [&](Overlay& control) {
    Record& record = control.gpus[std::to_string(gpu)];
    const auto known = record.find("xids");
    std::vector<Record> xids =
        known != record.end() && known->second.list ? *known->second.list : std::vector<Record>();
    Record event;
    event["at_s"] = Value::of(static_cast<Number>(machine->seconds() + kMomentS));
    event["xid"] = Value::of(xid);
    xids.push_back(std::move(event));
    record["xids"] = Value::of_list(std::move(xids));
  });
}

Status clear_overlay(const std::string& scenario) {
  PAGODA_ASSIGN(const SharedPaths paths, shared_paths(scenario));
  ::unlink(paths.control.c_str());
  return {};
}

Status restart(const std::string& scenario) {
  PAGODA_ASSIGN(const SharedPaths paths, shared_paths(scenario));
  ::unlink(paths.control.c_str());
  ::unlink(paths.state.c_str());
  return {};
}

}  // namespace pagoda::simulate
