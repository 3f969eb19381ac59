#include "simulate/machine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/check.h"
#include "base/format.h"
#include "simulate/derived_values.h"
#include "simulate/key_catalogue.h"

namespace pagoda::simulate {
namespace {

constexpr int kDeepest = 8;           // keys that refer to keys
constexpr double kPhasePerGpu = 1.7;  // seconds between the waves of one GPU and the next

// "1650023######" → the run of # becomes the GPU's index with leading zeros.
std::string with_index(std::string text, unsigned index) {
  const size_t first = text.find('#');
  if (first == std::string::npos) return text;
  const size_t last = text.find_first_not_of('#', first);
  const size_t length = (last == std::string::npos ? text.size() : last) - first;
  return text.replace(first, length, format("{:0{}}", index, length));
}

Answer not_supported() {
  return {};
}

Answer number_answer(Number number) {
  Answer answer;
  answer.code = NVML_SUCCESS;
  answer.number = number;
  return answer;
}

}  // namespace

unsigned long long now_us() {
  using namespace std::chrono;
  return static_cast<unsigned long long>(
      duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
}

Machine::Machine(std::string asked, SharedPaths paths)
    : asked_(std::move(asked)),
      paths_(std::move(paths)),
      scenario_file_(is_scenario_file(asked_) ? asked_ : std::string("/nonexistent")),
      state_file_(paths_.state),
      control_file_(paths_.control) {}

Result<std::unique_ptr<Machine>> Machine::open(const std::string& asked) {
  PAGODA_ASSIGN(SharedPaths paths, shared_paths(asked));
  std::unique_ptr<Machine> machine(new Machine(asked, std::move(paths)));
  PAGODA_TRY(machine->load());
  return machine;
}

Status Machine::load() {
  PAGODA_ASSIGN(scenario_, load_scenario(asked_));
  scenario_file_.changed();
  // The first process of all sets the clock.
  double epoch = 0;
  PAGODA_TRY(change_overlay(paths_.state, [&](Overlay& state) {
    if (!state.epoch_us) state.epoch_us = static_cast<double>(now_us());
    epoch = *state.epoch_us;
  }));
  epoch_us_ = epoch;
  if (const auto text = control_file_.read()) PAGODA_TRY(parse_overlay(*text, paths_.control));
  refresh();
  return {};
}

// A file that became wrong while it is in use: its last good version stays, and standard error says so once.
void Machine::refresh() {
  const auto told = [&](const Error& error) {
    if (error.message != complaint_) std::fprintf(stderr, "simulated GPUs: %s\n", error.message.c_str());
    complaint_ = error.message;
  };
  const auto reread = [&](WatchedFile& file, Overlay& overlay) {
    if (!file.changed()) return;
    const auto text = file.read();
    auto fresh = text ? parse_overlay(*text, file.path()) : Result<Overlay>(Overlay{});
    if (fresh) {
      overlay = std::move(*fresh);
    } else {
      told(fresh.error());
    }
  };
  reread(state_file_, state_);
  reread(control_file_, control_);
  if (state_.epoch_us) epoch_us_ = *state_.epoch_us;
  if (is_scenario_file(asked_) && scenario_file_.changed()) {
    auto fresh = load_scenario(asked_);
    if (fresh) {
      scenario_ = std::move(*fresh);
    } else {
      told(fresh.error());
    }
  }
}

unsigned Machine::gpu_count() const {
  std::lock_guard lock(mutex_);
  return static_cast<unsigned>(scenario_.gpus.size());
}

double Machine::seconds() const {
  return (static_cast<double>(now_us()) - epoch_us_) / 1e6;
}

const Value* Machine::find_in_overlay(const Overlay& overlay, unsigned gpu, std::string_view key) const {
  if (overlay.gpus.empty()) return nullptr;
  for (const std::string& selector : {std::to_string(gpu), std::string("all")}) {
    const auto record = overlay.gpus.find(selector);
    if (record == overlay.gpus.end()) continue;
    const auto value = record->second.find(key);
    if (value != record->second.end()) return &value->second;
  }
  return nullptr;
}

const Value* Machine::find(const Device& device, std::string_view key) const {
  if (device.gpu >= scenario_.gpus.size()) return nullptr;
  if (const Value* value = find_in_overlay(state_, device.gpu, key)) return value;
  if (const Value* value = find_in_overlay(control_, device.gpu, key)) return value;
  const Record& record = scenario_.gpus[device.gpu];
  const auto value = record.find(key);
  return value == record.end() ? nullptr : &value->second;
}

Answer Machine::value(const Device& device, std::string_view key) {
  std::lock_guard lock(mutex_);
  refresh();
  if (device.is_mig()) {
    // A MIG device has its own values and no others.
    const Answer devices = value_locked({device.gpu, Device::kWhole}, "mig.devices", seconds(), 0);
    if (!devices.list || static_cast<size_t>(device.mig) >= devices.list->size()) return not_supported();
    return record_value(device, (*devices.list)[static_cast<size_t>(device.mig)], key);
  }
  return value_locked(device, key, seconds(), 0);
}

Answer Machine::value_at(const Device& device, std::string_view key, unsigned long long time_us) {
  std::lock_guard lock(mutex_);
  if (device.is_mig()) return value(device, key);
  return value_locked(device, key, std::max(0.0, (static_cast<double>(time_us) - epoch_us_) / 1e6), 0);
}

Answer Machine::value_locked(const Device& device, std::string_view key, double t, int depth) {
  PAGODA_CHECK(find_key(key) != nullptr, "a key that the catalogue does not know");
  if (depth > kDeepest) return not_supported();
  if (const Value* value = find(device, key)) return evaluate(*value, device, t, depth);
  DerivationContext context;
  context.gpu = device.gpu;
  context.scenario = scenario_.name;
  context.seconds = t;
  context.number = [&](std::string_view other) -> std::optional<Number> {
    const Answer answer = value_locked(device, other, t, depth + 1);
    return answer.code == NVML_SUCCESS ? std::optional(answer.number) : std::nullopt;
  };
  context.list = [&](std::string_view other) { return value_locked(device, other, t, depth + 1).list; };
  context.system_text = [&](std::string_view other) -> std::optional<std::string> {
    const Answer answer = system_value(other);
    return answer.code == NVML_SUCCESS ? std::optional(answer.text) : std::nullopt;
  };
  if (key == "power.energy_mj") {
    // The draw over time; a draw that no curve gives is taken as it is now.
    const Value* draw = find(device, "power.draw_mw");
    if (draw == nullptr) return not_supported();
    Value energy = Value::of(1);
    energy.integral_of = "power.draw_mw";
    return evaluate(energy, device, t, depth + 1);
  }
  const auto derived = derive(key, context);
  return derived ? evaluate(*derived, device, t, depth + 1) : not_supported();
}

Number Machine::share(const Value& value, const Device& device, double t, int depth, Number of) {
  if (value.share_of.empty()) return of;
  const Answer whole = value_locked(device, value.share_of, t, depth + 1);
  return whole.code == NVML_SUCCESS ? of * whole.number : 0;
}

Answer Machine::evaluate(const Value& value, const Device& device, double t, int depth) {
  Answer answer;
  answer.code = NVML_SUCCESS;
  const double phase = kPhasePerGpu * device.gpu;
  if (value.kind == Value::Kind::kError) {
    answer.code = value.error;
  } else if (value.kind == Value::Kind::kText) {
    answer.text = with_index(value.text, device.gpu);
  } else if (value.kind == Value::Kind::kList) {
    answer.list = value.list;
  } else if (!value.integral_of.empty()) {
    const Value* of = find(device, value.integral_of);
    if (of == nullptr) return not_supported();
    const Number sum =
        of->curve ? static_cast<Number>(of->curve->integral(t, phase)) : of->number * static_cast<Number>(t);
    answer.number = value.number * share(*of, device, t, depth, sum);
  } else {
    const Number own = value.curve ? static_cast<Number>(value.curve->at(t, phase)) : value.number;
    answer.number = share(value, device, t, depth, own);
  }
  if (value.round != 0)
    answer.number =
        std::round(answer.number / static_cast<Number>(value.round)) * static_cast<Number>(value.round);
  return answer;
}

Answer Machine::system_value(std::string_view key) {
  std::lock_guard lock(mutex_);
  refresh();
  PAGODA_CHECK(find_key(key) != nullptr, "a key that the catalogue does not know");
  for (const Record* record : {&state_.system, &control_.system, &scenario_.system}) {
    const auto value = record->find(key);
    if (value != record->end()) return evaluate(value->second, Device{}, seconds(), 0);
  }
  return not_supported();
}

Answer Machine::record_value(const Device& device, const Record& record, std::string_view key) {
  std::lock_guard lock(mutex_);
  const auto value = record.find(key);
  if (value != record.end()) return evaluate(value->second, device, seconds(), 0);
  if (!key.ends_with(".free")) return not_supported();
  const std::string stem(key.substr(0, key.size() - 4));
  const Answer total = record_value(device, record, stem + "total"),
               used = record_value(device, record, stem + "used");
  const Answer reserved = record_value(device, record, stem + "reserved");
  if (total.code != NVML_SUCCESS || used.code != NVML_SUCCESS) return not_supported();
  return number_answer(std::max<Number>(0, total.number - reserved.number - used.number));
}

nvmlReturn_t Machine::set(const Device& device,
                          const std::vector<std::pair<std::string, std::optional<Value>>>& values) {
  const Answer allowed = system_value("system.settings_allowed");
  if (allowed.code == NVML_SUCCESS && allowed.number == 0) return NVML_ERROR_NO_PERMISSION;
  const Status written = change_overlay(paths_.state, [&](Overlay& state) {
    Record& record = state.gpus[std::to_string(device.gpu)];
    for (const auto& [key, value] : values) {
      if (value) {
        record[key] = *value;
      } else {
        record.erase(key);
      }
    }
  });
  if (written) return NVML_SUCCESS;
  std::fprintf(stderr, "simulated GPUs: %s\n", written.error().message.c_str());
  return NVML_ERROR_OPERATING_SYSTEM;
}

Answer Machine::call_rule(const Device* device, std::string_view function) {
  std::lock_guard lock(mutex_);
  refresh();
  const double t = seconds();
  for (const std::string& name : {std::string(function), std::string("*")}) {
    if (device != nullptr) {
      if (const Value* rule = find({device->gpu, Device::kWhole}, "calls." + name))
        return evaluate(*rule, {device->gpu, Device::kWhole}, t, 0);
    } else if (const Answer rule = system_value("system.calls." + name);
               rule.code != NVML_ERROR_NOT_SUPPORTED) {
      return rule;
    }
  }
  return number_answer(0);
}

std::vector<Machine::Event> Machine::events_between(double from, double to) {
  std::lock_guard lock(mutex_);
  refresh();
  std::vector<Event> events;
  const auto add = [&](Event event) {
    if (event.at > from && event.at <= to) events.push_back(event);
  };
  for (unsigned gpu = 0; gpu < scenario_.gpus.size(); ++gpu) {
    const Device device{gpu, Device::kWhole};
    const Answer falls = value_locked(device, "falls_off_bus_after_s", to, 0);
    if (falls.code == NVML_SUCCESS)
      add({static_cast<double>(falls.number), gpu, nvmlEventTypeXidCriticalError, 79});
    const Answer xids = value_locked(device, "xids", to, 0);
    if (!xids.list) continue;
    for (const Record& record : *xids.list) {
      const auto number = [&](std::string_view key, Number otherwise) {
        const Answer answer = record_value(device, record, key);
        return answer.code == NVML_SUCCESS ? answer.number : otherwise;
      };
      add({static_cast<double>(number("at_s", 0)), gpu,
           static_cast<unsigned long long>(number("type", nvmlEventTypeXidCriticalError)),
           static_cast<unsigned long long>(number("xid", 0)),
           static_cast<unsigned>(number("gpu_instance", 0xFFFFFFFF)),
           static_cast<unsigned>(number("compute_instance", 0xFFFFFFFF))});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  return events;
}

}  // namespace pagoda::simulate
