#include "app/driver_stack.h"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "app/command_words.h"
#include "app/flag_values.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/format.h"
#include "driver/cuda_releases.h"
#include "driver/stack_findings.h"

namespace pagoda::app {
namespace {

using namespace driver;

constexpr std::array<std::string_view, 5> kFloorNames = {"CUDA toolkit", "Libraries", "Container runtime",
                                                         "Frameworks", "Monitoring"};
constexpr std::array<std::string_view, 5> kFloorKeys = {"toolkit", "libraries", "container_runtime",
                                                        "frameworks", "monitoring"};

std::string hardware_line(const PciDevice& gpu) {
  std::string line = format("{}  {}", gpu.address, gpu.board_name());
  if (gpu.chip != nullptr)
    line += format(": {} ({}, compute capability {})", gpu.chip->name, gpu.chip->architecture,
                   capability_text(*gpu.chip));
  const Board* board = find_board(gpu.device);
  if (board != nullptr && gpu.chip != nullptr) {
    line += format(", {} SMs × {} cores = {}, {} GiB at {} GB/s", board->sms, gpu.chip->cores_per_sm,
                   board->sms * gpu.chip->cores_per_sm, board->memory_gib, board->bandwidth_gb_s);
    if (board->nvlink_gb_s > 0) line += format(", NVLink {} GB/s", board->nvlink_gb_s);
  }
  if (!gpu.link_width.empty())
    line += format(", PCIe x{}{}", gpu.link_width, gpu.link_speed.empty() ? "" : " " + gpu.link_speed);
  return line;
}

std::string driver_line(const HostFacts& facts) {
  if (facts.loaded) {
    return format("{}, {} kernel module, CUDA up to {}", facts.loaded->version.text(),
                  module_kind_name(facts.loaded->kind), newest_cuda(facts.loaded->version).value_or("?"));
  }
  if (facts.libcuda) return format("libcuda {}; no kernel module loaded", facts.libcuda->version.text());
  return "none";
}

// Where a floor is: the kernel module can only be the host's, all above may be in either.
std::string_view where(bool container, bool driver_floor) {
  if (driver_floor) return container ? "in the host, given to this container" : "in the host";
  return container ? "in this container" : "in the host";
}

std::string stack_text(const HostFacts& facts, const std::vector<StackComponent>& components,
                       const std::vector<Finding>& findings, bool container, const Paint& paint) {
  std::string text;
  const auto heading = [&](std::string_view name, std::string_view place) {
    text += format("{} {}\n", paint(Ink::kBold, name), paint(Ink::kDim, format("({})", place)));
  };
  for (int floor = 4; floor >= 0; --floor) {
    heading(kFloorNames[static_cast<size_t>(floor)], where(container, false));
    bool any = false;
    for (const auto& component : components) {
      if (static_cast<int>(component.floor) != floor) continue;
      any = true;
      text += format("  {} {}{}  {}\n", component.name, component.version,
                     component.cuda.empty() ? "" : format(" for CUDA {}", component.cuda), component.place);
    }
    // pagoda is on two floors itself: the framework that serves, and the exporter.
    if (floor >= 3) {
      text += format("  pagoda {}\n", version());
    } else if (!any) {
      text += "  none found\n";
    }
  }
  heading("Driver", where(container, true));
  text += format("  {}\n", driver_line(facts));
  heading("Hardware", where(container, true));
  for (const auto& gpu : facts.gpus) text += format("  {}\n", hardware_line(gpu));
  if (facts.gpus.empty()) text += "  no NVIDIA GPU\n";
  text += '\n';
  if (findings.empty()) return text + "Everything found fits together.\n";
  for (const auto& finding : findings) {
    text += format("{}: {}\n  → {}\n",
                   paint(finding.severity == Severity::kFault ? Ink::kRed : Ink::kYellow,
                         severity_name(finding.severity)),
                   finding.text, finding.remedy);
  }
  return text;
}

nlohmann::ordered_json stack_json(const HostFacts& facts, const std::vector<StackComponent>& components,
                                  const std::vector<Finding>& findings, bool container) {
  nlohmann::ordered_json value;
  value["in_container"] = container;
  value["hardware"] = nlohmann::ordered_json::array();
  for (const auto& gpu : facts.gpus) value["hardware"].push_back(hardware_line(gpu));
  value["driver"] = driver_line(facts);
  for (size_t floor = 0; floor < kFloorKeys.size(); ++floor) {
    auto& rows = value[std::string(kFloorKeys[floor])] = nlohmann::ordered_json::array();
    for (const auto& component : components) {
      if (static_cast<size_t>(component.floor) != floor) continue;
      rows.push_back({{"name", component.name},
                      {"version", component.version},
                      {"cuda", component.cuda},
                      {"place", component.place}});
    }
  }
  value["incompatible"] = nlohmann::ordered_json::array();
  for (const auto& finding : findings) {
    value["incompatible"].push_back(
        {{"severity", severity_name(finding.severity)}, {"text", finding.text}, {"remedy", finding.remedy}});
  }
  return value;
}

}  // namespace

int run_driver_stack(const Invocation& invocation) {
  std::string folder = "/";
  bool json = false;
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary =
      "Floor by floor, from monitoring down to the hardware: versions, and what does not fit together.";
  table.flags = {
      flag_row("root", "DIR", to_text(&folder), "look at the machine under this folder (default: /)"),
      switch_row("json", &json, "print JSON")};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto root = HostRoot::open(folder);
  if (!root) return report_error(invocation, root.error());
  const HostFacts facts = read_host_facts(*root);
  const auto components = find_stack_components(*root);
  const auto findings = judge_stack(facts, components);
  const bool container = is_container(*root);
  if (json) {
    fmt::print("{}\n", stack_json(facts, components, findings, container).dump(2));
  } else {
    fmt::print("{}",
               stack_text(facts, components, findings, container, Paint::for_descriptor(STDOUT_FILENO)));
  }
  return has_fault(findings) ? kExitFailure : kExitOk;
}

}  // namespace pagoda::app
