#include "smi/mig_report.h"

#include "base/format.h"
#include "smi/json_cell.h"

namespace pagoda::smi {
namespace {

std::string edge(int width) {
  return format("+{:-<{}}+\n", "", width);
}
std::string line(int width, std::string_view text) {
  return format("|{:<{}}|\n", text, width);
}
std::string double_rule(int width) {
  return format("|{:=<{}}|\n", "", width);
}

constexpr int kProfileWidth = 79, kInstanceWidth = 57, kComputeWidth = 68;

}  // namespace

std::string mig_profiles(const driver::MachineSnapshot& machine) {
  std::string rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    if (!gpu.mig.profiles) continue;
    for (const driver::MigProfile& p : *gpu.mig.profiles) {
      rows += line(kProfileWidth,
                   format("{:>4}  MIG {:<14} {:>3} {:>7} {:>11.2f} {:>8} {:>6} {:>5} {:>5}", gpu.index,
                          p.name, p.id, format("{}/{}", p.free, p.total), p.memory_gib,
                          p.peer_to_peer ? "Yes" : "No", p.multiprocessors, p.decoders, p.encoders));
      rows += line(kProfileWidth, format("{:64}{:>2} {:>5} {:>5}", "", p.copy_engines, p.jpegs, p.ofas));
      rows += edge(kProfileWidth);
    }
  }
  if (rows.empty()) return {};
  return edge(kProfileWidth) + line(kProfileWidth, " GPU instance profiles:") +
         line(kProfileWidth,
              " GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  ") +
         line(kProfileWidth,
              "                                Free/Total   GiB              CE    JPEG  OFA  ") +
         double_rule(kProfileWidth) + rows;
}

std::string mig_gpu_instances(const driver::MachineSnapshot& machine) {
  std::string rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    if (!gpu.mig.gpu_instances) continue;
    for (const driver::MigInstance& i : *gpu.mig.gpu_instances) {
      rows += line(kInstanceWidth,
                   format("{:>4}  MIG {:<14}{:>6}{:>9}{:>13}", gpu.index, i.profile_name, i.profile_id, i.id,
                          format("{}:{}", i.placement_start, i.placement_size)));
      rows += edge(kInstanceWidth);
    }
  }
  if (rows.empty()) return {};
  return edge(kInstanceWidth) + line(kInstanceWidth, " GPU instances:") +
         line(kInstanceWidth, " GPU   Name             Profile  Instance   Placement   ") +
         line(kInstanceWidth, "                          ID       ID       Start:Size  ") +
         double_rule(kInstanceWidth) + rows;
}

std::string mig_compute_instances(const driver::MachineSnapshot& machine) {
  std::string rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    if (!gpu.mig.compute_instances) continue;
    for (const driver::MigInstance& i : *gpu.mig.compute_instances) {
      rows += line(kComputeWidth, format("{:>4}{:>7}       MIG {:<14}{:>4}{:>10}{:>14}", gpu.index,
                                         i.parent_id, i.profile_name, i.profile_id, i.id,
                                         format("{}:{}", i.placement_start, i.placement_size)));
      rows += edge(kComputeWidth);
    }
  }
  if (rows.empty()) return {};
  return edge(kComputeWidth) + line(kComputeWidth, " Compute instances:") +
         line(kComputeWidth, " GPU     GPU       Name             Profile   Instance   Placement  ") +
         line(kComputeWidth, "       Instance                       ID        ID       Start:Size ") +
         line(kComputeWidth, "         ID                                                         ") +
         double_rule(kComputeWidth) + rows;
}

std::string mig_json(const driver::MachineSnapshot& machine) {
  using Json = nlohmann::ordered_json;
  const auto instances = [](const driver::Field<std::vector<driver::MigInstance>>& list) {
    Json rows = Json::array();
    if (!list) return rows;
    for (const driver::MigInstance& i : *list) {
      rows.push_back({{"id", i.id},
                      {"profile", i.profile_name},
                      {"profile_id", i.profile_id},
                      {"placement_start", i.placement_start},
                      {"placement_size", i.placement_size},
                      {"gpu_instance", i.parent_id}});
    }
    return rows;
  };
  Json gpus = Json::array();
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    Json row = {{"index", gpu.index}, {"profiles", Json::array()}};
    if (gpu.mig.profiles) {
      for (const driver::MigProfile& p : *gpu.mig.profiles) {
        row["profiles"].push_back({{"id", p.id},
                                   {"name", p.name},
                                   {"free", p.free},
                                   {"total", p.total},
                                   {"memory_gib", p.memory_gib},
                                   {"multiprocessors", p.multiprocessors}});
      }
    }
    row["gpu_instances"] = instances(gpu.mig.gpu_instances);
    row["compute_instances"] = instances(gpu.mig.compute_instances);
    gpus.push_back(std::move(row));
  }
  return Json{{"gpus", std::move(gpus)}}.dump(2) + "\n";
}

}  // namespace pagoda::smi
