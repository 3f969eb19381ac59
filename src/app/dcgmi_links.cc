// `dcgmi topo` and `dcgmi nvlink`: what connects GPUs, to CPUs and to each other.
#include <algorithm>
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

struct Options {
  std::string group;
  int gpu = -1;
  bool status = false, json = false;
};

constexpr std::array<std::string_view, 19> kNumbers = {
    "no",  "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",   "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"};

// nvmlGpuTopologyLevel_t in dcgmi's words.
std::string path_words(const driver::Field<unsigned>& nearness) {
  if (!nearness) return "Unknown";
  switch (*nearness) {
    case NVML_TOPOLOGY_INTERNAL:
      return "Connected via an on-board PCIe switch";
    case NVML_TOPOLOGY_SINGLE:
      return "Connected via a single PCIe switch";
    case NVML_TOPOLOGY_MULTIPLE:
      return "Connected via multiple PCIe switches";
    case NVML_TOPOLOGY_HOSTBRIDGE:
      return "Connected via a PCIe host bridge";
    case NVML_TOPOLOGY_NODE:
    case NVML_TOPOLOGY_SYSTEM:
      return "Connected via a CPU-level link";
    default:
      return "Unknown";
  }
}

// Links of `from` that lead to `to`: directly, or through switches that both are on.
std::vector<unsigned> links_to(const driver::GpuSnapshot& from, const driver::GpuSnapshot& to) {
  const auto switched = [](const driver::NvLink& link) {
    return link.active.value_or(false) && link.remote_type &&
           *link.remote_type == NVML_NVLINK_DEVICE_TYPE_SWITCH;
  };
  const bool other_on_switch = std::any_of(to.nvlink.links.begin(), to.nvlink.links.end(), switched);
  std::vector<unsigned> links;
  for (size_t i = 0; i < from.nvlink.links.size(); ++i) {
    const driver::NvLink& link = from.nvlink.links[i];
    const bool direct = link.active.value_or(false) && link.remote_bus_id && to.pci.bus_id &&
                        *link.remote_bus_id == *to.pci.bus_id;
    if (direct || (other_on_switch && switched(link))) links.push_back(static_cast<unsigned>(i));
  }
  return links;
}

std::string link_words(const std::vector<unsigned>& links) {
  std::string list;
  for (const unsigned link : links) list += format("{}{}", list.empty() ? "" : ", ", link);
  const std::string count =
      links.size() < kNumbers.size() ? std::string(kNumbers[links.size()]) : format("{}", links.size());
  return links.size() == 1 ? format("Connected via one NVLINK (Link: {})", list)
                           : format("Connected via {} NVLINKs (Links: {})", count, list);
}

// {0, 1, 2, 5} is "0 - 2, 5".
std::string affinity_words(const driver::Field<std::vector<unsigned>>& cpus) {
  if (!cpus) return format("Unknown ({})", driver::describe(cpus.error().reason));
  std::string out;
  for (size_t i = 0; i < cpus->size();) {
    size_t last = i;
    while (last + 1 < cpus->size() && (*cpus)[last + 1] == (*cpus)[last] + 1) ++last;
    out += out.empty() ? "" : ", ";
    out += last == i ? format("{}", (*cpus)[i]) : format("{} - {}", (*cpus)[i], (*cpus)[last]);
    i = last + 1;
  }
  return out;
}

BoxedTree gpu_topology(const driver::MachineSnapshot& machine, size_t place) {
  const driver::GpuSnapshot& gpu = machine.gpus[place];
  BoxedTree tree{{"Topology Information", format("GPU ID: {}", gpu.index)},
                 {{"CPU Core Affinity", {affinity_words(gpu.cpus)}, {}}}};
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    if (i == place) continue;
    BoxedRow row{format("To GPU {}", machine.gpus[i].index), {path_words(gpu.nearness[i])}, {}};
    if (const auto links = links_to(gpu, machine.gpus[i]); !links.empty())
      row.values.push_back(link_words(links));
    tree.rows.push_back(std::move(row));
  }
  return tree;
}

BoxedTree group_topology(const driver::MachineSnapshot& machine, const std::vector<size_t>& places,
                         const std::string& name) {
  driver::Field<std::vector<unsigned>> shared = machine.gpus[places[0]].cpus;
  bool same = true;
  driver::Field<unsigned> worst;
  for (const size_t place : places) {
    const auto& cpus = machine.gpus[place].cpus;
    same = same && cpus && machine.gpus[places[0]].cpus && *cpus == *machine.gpus[places[0]].cpus;
    if (shared && cpus)
      std::erase_if(*shared,
                    [&](unsigned cpu) { return std::find(cpus->begin(), cpus->end(), cpu) == cpus->end(); });
    for (const size_t other : places) {
      const auto& near = machine.gpus[place].nearness[other];
      if (other != place && near && (!worst || *near > *worst)) worst = near;
    }
  }
  BoxedTree tree{
      {"Topology Information", name},
      {{"CPU Core Affinity", {affinity_words(shared)}, {}}, {"NUMA Optimal", {same ? "True" : "False"}, {}}}};
  if (places.size() > 1) tree.rows.push_back({"Worst Path", {path_words(worst)}, {}});
  return tree;
}

tl::expected<size_t, int> place_of(const DcgmiSession& session, int gpu) {
  const auto* entity =
      telemetry::find_entity(session.entities(), {telemetry::EntityKind::kGpu, static_cast<unsigned>(gpu)});
  if (entity != nullptr) return entity->gpu;
  return tl::unexpected<int>(dcgmi_failure(
      DcgmStatus::kBadParameter,
      format("There is no GPU {}. Return: {}", gpu, telemetry::sentence_of(DcgmStatus::kBadParameter))));
}

int print_errors(const DcgmiSession& session, const Options& o) {
  const auto place = place_of(session, o.gpu);
  if (!place) return place.error();
  struct Row {
    std::string_view name;
    driver::Count driver::NvLink::*count;
  };
  constexpr std::array kRows = {Row{"CRC FLIT Error", &driver::NvLink::crc_flit_errors},
                                Row{"CRC Data Error", &driver::NvLink::crc_data_errors},
                                Row{"Replay Error", &driver::NvLink::replays},
                                Row{"Recovery Error", &driver::NvLink::recoveries}};
  const driver::GpuSnapshot gpu =
      driver::read_gpu(session.nvml(), session.nvml().gpus()[*place], driver::kNvLinkSection);
  if (!gpu.nvlink.count)
    return dcgmi_failure(DcgmStatus::kNotSupported,
                         format("Unable to retrieve NvLink error counts of GPU {}: {}", o.gpu,
                                driver::describe(gpu.nvlink.count.error().reason)));
  BoxedTree tree{{"NVLINK Error Counts", format("GPU {}", o.gpu)}, {}};
  for (size_t i = 0; i < gpu.nvlink.links.size(); ++i) {
    BoxedRow link{format("Link {}", i), {}, {}};
    for (const Row& row : kRows) {
      const driver::Count& count = gpu.nvlink.links[i].*row.count;
      link.rows.push_back(
          {std::string(row.name),
           {count ? format("{}", *count) : format("({})", driver::describe(count.error().reason))},
           {}});
    }
    tree.rows.push_back(std::move(link));
  }
  fmt::print("{}", o.json ? as_json(tree) : as_box(tree, 30, 50));
  return kExitOk;
}

int print_states(const DcgmiSession& session) {
  const auto machine = driver::read_machine(session.nvml(), driver::kNvLinkSection);
  std::string out = "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n";
  if (machine.gpus.empty()) out += "    No GPUs found.\n";
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    out += format("    gpuId {}:\n       ", gpu.index);
    constexpr size_t kLinks = 18;
    for (size_t i = 0; i < std::max(kLinks, gpu.nvlink.links.size()); ++i) {
      const bool known = i < gpu.nvlink.links.size() && gpu.nvlink.links[i].active;
      out += format(" {}", !known ? '_' : *gpu.nvlink.links[i].active ? 'U' : 'D');
    }
    out += '\n';
  }
  out += "NvSwitches:\n    Not told by NVML.\n\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n";
  fmt::print("{}", out);
  return kExitOk;
}

}  // namespace

int run_dcgmi_topology(const std::string& program, DcgmiWords words) {
  Options o;
  FlagTable table;
  table.usage = format("{} -g GROUP | --gpuid ID [-j]", program);
  table.summary = "How near GPUs are to CPUs and to each other.";
  table.flags = {
      dcgmi_flag("group", {"g"}, "GROUP", to_text(&o.group), "of a group as a whole (default: all GPUs)"),
      dcgmi_flag("gpuid", {}, "ID", to_integer(&o.gpu, {0, 1 << 20}), "of one GPU to each other"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  const auto machine = driver::read_machine(
      session->nvml(), driver::kTopologySection | driver::kNvLinkSection | driver::kPciSection);
  BoxedTree tree;
  if (o.gpu >= 0) {
    const auto place = place_of(*session, o.gpu);
    if (!place) return place.error();
    tree = gpu_topology(machine, *place);
  } else {
    const auto state = session->load_state();
    if (!state) return state.error();
    const auto group = session->group(o.group, *state);
    if (!group)
      return dcgmi_failure(DcgmStatus::kGenericError,
                           format("Unable to get group information. Return: {}", group.error().message));
    const auto places = session->gpus_of(group->entities);
    if (places.empty()) return dcgmi_failure(DcgmStatus::kNoData, "The group has no GPUs.");
    tree = group_topology(machine, places, group->name);
  }
  fmt::print("{}", o.json ? as_json(tree) : as_box(tree, 20, 80));
  return kExitOk;
}

int run_dcgmi_nvlink(const std::string& program, DcgmiWords words) {
  Options o;
  bool errors = false;
  FlagTable table;
  table.usage = format("{} -s | -e -g GPU [-j]", program);
  table.summary = "NVLinks: which are up, and what went wrong on them.";
  table.flags = {
      dcgmi_flag("link-status", {"s"}, "", to_switch(&o.status), "up or down, of every GPU"),
      dcgmi_flag("errors", {"e"}, "", to_switch(&errors), "error counters of the GPU that -g names"),
      dcgmi_flag("gpuid", {"g"}, "ID", to_integer(&o.gpu, {0, 1 << 20}), "which GPU"),
      dcgmi_flag("json", {"j"}, "", to_switch(&o.json), "-e as JSON"),
  };
  const auto parsed = read_dcgmi_flags(table, words);
  if (!parsed) return parsed.error();
  if (o.status == errors)
    return dcgmi_failure(DcgmStatus::kBadParameter, "nvlink needs -s, or -e with -g GPU.");
  if (errors && o.gpu < 0) return dcgmi_failure(DcgmStatus::kBadParameter, "nvlink -e needs -g GPU.");
  const auto session = DcgmiSession::open();
  if (!session) return session.error();
  return o.status ? print_states(*session) : print_errors(*session, o);
}

}  // namespace pagoda::app
