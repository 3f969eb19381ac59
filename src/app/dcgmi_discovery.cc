// `dcgmi discovery`: -l the GPUs, -c the instances on them, -i what they are.
#include <array>

#include "app/boxed_tree.h"
#include "app/dcgmi_commands.h"
#include "app/dcgmi_session.h"
#include "app/flag_values.h"
#include "base/format.h"
#include "telemetry/field_catalogue.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;

constexpr size_t kIdWidth = 8, kInfoWidth = 70;  // with a space at each side
constexpr std::string_view kDifferent = "****";

struct Options {
  bool list = false, hierarchy = false, verbose = false;
  std::string info, group;
  int gpu = -1;
};

std::string words_of(const driver::Text& reading) {
  return reading ? *reading : format("({})", driver::describe(reading.error().reason));
}

std::string rule() {
  return format("+{}+{}+\n", std::string(kIdWidth, '-'), std::string(kInfoWidth, '-'));
}
std::string row(std::string_view id, std::string_view info) {
  return format("| {:<{}} | {:<{}} |\n", id, kIdWidth - 2, info, kInfoWidth - 2);
}

int print_list(const DcgmiSession& session) {
  const auto& gpus = session.machine().gpus;
  std::string out = format("{} GPU{} found.\n", gpus.size(), gpus.size() == 1 ? "" : "s");
  out += rule() + row("GPU ID", "Device Information") + rule();
  for (const driver::GpuSnapshot& gpu : gpus) {
    out += row(format("{}", gpu.index), "Name: " + words_of(gpu.identity.name));
    out += row("", "PCI Bus ID: " + words_of(gpu.pci.bus_id));
    out += row("", "Device UUID: " + words_of(gpu.identity.uuid));
    out += rule();
  }
  if (gpus.empty()) out += rule();
  fmt::print("{}", out);
  return kExitOk;
}

int print_hierarchy(const DcgmiSession& session) {
  BoxedTree tree;
  tree.header = {"Instance Hierarchy"};
  for (const telemetry::Entity& entity : session.entities()) {
    const unsigned gpu = session.machine().gpus[entity.gpu].index;
    switch (entity.id.kind) {
      case telemetry::EntityKind::kGpu:
        tree.rows.push_back(
            {format("GPU {}", gpu),
             {format("GPU {} (EntityID: {})", words_of(session.machine().gpus[entity.gpu].identity.uuid),
                     entity.id.id)},
             {}});
        break;
      case telemetry::EntityKind::kGpuInstance:
        tree.rows.back().rows.push_back({format("I {}/{}", gpu, entity.gpu_instance),
                                         {format("GPU Instance (EntityID: {})", entity.id.id)},
                                         {}});
        break;
      case telemetry::EntityKind::kComputeInstance:
        tree.rows.back().rows.back().rows.push_back(
            {format("CI {}/{}/{}", gpu, entity.gpu_instance, entity.compute_instance),
             {format("Compute Instance (EntityID: {})", entity.id.id)},
             {}});
        break;
    }
  }
  fmt::print("{}", as_box(tree, 20, 70));
  return kExitOk;
}

struct InfoRow {
  char letter;
  std::string_view name;
  unsigned field;
};
constexpr std::array kInfo = {
    InfoRow{'a', "Device Name", 50},
    InfoRow{'a', "PCI Bus ID", 57},
    InfoRow{'a', "UUID", 54},
    InfoRow{'a', "Serial Number", 53},
    InfoRow{'a', "InfoROM Version", 82},
    InfoRow{'a', "VBIOS", 85},
    InfoRow{'p', "Current Power Limit (W)", 160},
    InfoRow{'p', "Default Power Limit (W)", 163},
    InfoRow{'p', "Max Power Limit (W)", 162},
    InfoRow{'p', "Min Power Limit (W)", 161},
    InfoRow{'p', "Enforced Power Limit (W)", 164},
    InfoRow{'t', "Shutdown Temperature (C)", 159},
    InfoRow{'t', "Slowdown Temperature (C)", 158},
    InfoRow{'c', "Max SM Clock (MHz)", 113},
    InfoRow{'c', "Max Memory Clock (MHz)", 114},
    InfoRow{'w', "Power Profiles Requested", 165},
    InfoRow{'w', "Power Profiles Enforced", 166},
};

std::string value_text(const InfoRow& info, const telemetry::EntityReadings& gpu) {
  const auto reading = telemetry::read_field(*telemetry::find_field(info.field), gpu);
  if (!reading) return format("Not Specified ({})", driver::describe(reading.error().reason));
  if (info.letter == 'p') return format("{:.0f}", telemetry::to_number(*reading));
  return telemetry::to_text(*reading);
}

// One box for these GPUs; a value that differs among them is told by stars.
void print_box(const std::string& head, const std::string& letters, const telemetry::GpuSample& sample,
               const std::vector<size_t>& places) {
  const std::string line = format("+{}+{}+\n", std::string(26, '-'), std::string(49, '-'));
  std::string out = line + format("| {:<24} | {:<47} |\n", head, "Device Information");
  out += format("+{}+{}+\n", std::string(26, '='), std::string(49, '='));
  for (const char letter : letters) {
    for (const InfoRow& info : kInfo) {
      if (info.letter != letter) continue;
      std::string text = value_text(info, {sample, places[0], {}});
      for (const size_t place : places) {
        if (value_text(info, {sample, place, {}}) != text) text = kDifferent;
      }
      std::string_view label = info.name;
      for (const std::string& part : broken_lines(text, 47)) {
        out += format("| {:<24} | {:<47} |\n", label, part);
        label = "";
      }
    }
    out += line;
  }
  fmt::print("{}", out);
}

int print_info(const DcgmiSession& session, const Options& options) {
  const std::string letters = options.info.empty() ? "atp" : options.info;
  if (letters.find_first_not_of("atpcw") != std::string::npos)
    return dcgmi_failure(DcgmStatus::kBadParameter,
                         format("Invalid flags detected. Return: {}; a, t, p, c and w are known",
                                telemetry::sentence_of(DcgmStatus::kBadParameter)));
  const auto state = session.load_state();
  if (!state) return state.error();
  const auto group = session.group(options.group, *state);
  if (!group) return dcgmi_failure(DcgmStatus::kNotConfigured, group.error().message);
  std::vector<size_t> places = session.gpus_of(group->entities);
  if (options.gpu >= 0) {
    const auto* entity = telemetry::find_entity(
        session.entities(), {telemetry::EntityKind::kGpu, static_cast<unsigned>(options.gpu)});
    if (entity == nullptr)
      return dcgmi_failure(DcgmStatus::kBadParameter,
                           format("Unable to get GPU info. Return: {}: there is no GPU {}",
                                  telemetry::sentence_of(DcgmStatus::kBadParameter), options.gpu));
    places = {entity->gpu};
  }
  if (places.empty()) {
    fmt::print("No devices in group.\n");
    return kExitOk;
  }
  telemetry::GpuSampler sampler(
      session.nvml(), {},
      {driver::kIdentitySection | driver::kPciSection | driver::kInforomSection | driver::kPowerSection |
           driver::kTemperatureSection | driver::kClocksSection,
       {},
       false});
  const telemetry::GpuSample sample = sampler.read();
  if (options.gpu >= 0 || options.verbose) {
    for (const size_t place : places)
      print_box(format("GPU ID: {}", sample.machine.gpus[place].index), letters, sample, {place});
  } else {
    print_box(format("Group of {} GPUs", places.size()), letters, sample, places);
  }
  return kExitOk;
}

}  // namespace

int run_dcgmi_discovery(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table;
  table.usage = format("{} -l | -c | -i FLAGS [-g GROUP | --gpuid ID] [-v]", program);
  table.summary = "GPUs and MIG instances of this machine.";
  table.flags = {
      dcgmi_flag("list", {"l"}, "", to_switch(&o.list), "the GPUs"),
      dcgmi_flag("compute-hierarchy", {"c"}, "", to_switch(&o.hierarchy),
                 "GPUs, their GPU instances, their compute instances"),
      dcgmi_flag(
          "info", {"i"}, "LETTERS", to_text(&o.info),
          "a device, p power limits, t thermal limits, c clocks, w workload power profiles (default: atp)"),
      dcgmi_flag("group", {"g"}, "GROUP", to_text(&o.group), "of this group (default: all GPUs)"),
      dcgmi_flag("gpuid", {}, "ID", to_integer(&o.gpu, {0, 1 << 20}), "of this GPU"),
      dcgmi_flag("verbose", {"v"}, "", to_switch(&o.verbose), "one box for each GPU of the group"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  if (o.list) return print_list(*session);
  if (o.hierarchy) return print_hierarchy(*session);
  if (!o.info.empty() || o.gpu >= 0 || !o.group.empty()) return print_info(*session, o);
  return dcgmi_failure(DcgmStatus::kBadParameter, "discovery needs -l, -c or -i.");
}

}  // namespace pagoda::app
