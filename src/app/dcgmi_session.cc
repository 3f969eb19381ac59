#include "app/dcgmi_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/terminal.h"
#include "base/format.h"
#include "simulate/shared_state.h"

namespace pagoda::app {
namespace {

using telemetry::DcgmStatus;
using telemetry::EntityKind;

// The simulated machine's own file, so that its groups are not the real one's.
std::string state_path(bool simulated) {
  const char* scenario = std::getenv("PAGODA_SIMULATE");
  if (simulated && scenario != nullptr) {
    if (const auto paths = simulate::shared_paths(scenario)) {
      const std::string stem =
          paths->state.substr(0, paths->state.size() - std::string(".state.yaml").size());
      return stem + ".dcgmi.json";
    }
  }
  return telemetry::WatchStateFile::usual_path();
}

void print_notice(const std::string& notice) {
  if (!notice.empty()) fmt::print(stderr, "{}\n", notice);
}

}  // namespace

int dcgmi_failure(DcgmStatus status, const std::string& message) {
  fmt::print("Error: {}\n", message);
  return telemetry::exit_status(status);
}

tl::expected<DcgmiSession, int> DcgmiSession::open() {
  auto nvml = driver::Nvml::open();
  if (!nvml) {
    const bool missing = nvml.error().code == NVML_ERROR_LIBRARY_NOT_FOUND;
    const int status =
        dcgmi_failure(missing ? DcgmStatus::kLibraryNotFound : DcgmStatus::kNvmlError, nvml.error().message);
    fmt::print("Without a GPU: `pagoda --simulate h100x8 dcgmi discovery -l` shows simulated ones.\n");
    return tl::unexpected<int>(status);
  }
  DcgmiSession session(std::move(*nvml));
  static constexpr driver::nvml::Call<nvmlReturn_t(nvmlDevice_t)> kOnlySimulated{
      {"pagodaSimulatedDeviceReset"}};
  session.simulated_ = session.nvml_.has(kOnlySimulated);
  session.machine_ = driver::read_machine(
      session.nvml_, driver::kIdentitySection | driver::kPciSection | driver::kMigSection);
  session.entities_ = telemetry::entities_of(session.machine_);
  session.state_path_ = state_path(session.simulated_);
  return session;
}

tl::expected<telemetry::WatchState, int> DcgmiSession::load_state() const {
  std::string notice;
  auto state = telemetry::WatchStateFile(state_path_).load(&notice);
  print_notice(notice);
  if (!state) return tl::unexpected<int>(dcgmi_failure(DcgmStatus::kGenericError, state.error().message));
  return std::move(*state);
}

tl::expected<void, int> DcgmiSession::change_state(
    const std::function<Status(telemetry::WatchState&)>& body) const {
  std::string notice;
  const auto done = telemetry::WatchStateFile(state_path_).change(body, &notice);
  print_notice(notice);
  if (done) return {};
  const bool callers =
      done.error().code == ErrorCode::kNotFound || done.error().code == ErrorCode::kInvalidArgument;
  return tl::unexpected<int>(dcgmi_failure(done.error().code == ErrorCode::kNotFound
                                               ? DcgmStatus::kNotConfigured
                                           : callers ? DcgmStatus::kBadParameter
                                                     : DcgmStatus::kGenericError,
                                           done.error().message));
}

Result<ChosenGroup> DcgmiSession::group(const std::string& name, const telemetry::WatchState& state) const {
  const auto all_of = [&](std::vector<EntityKind> kinds) {
    std::vector<telemetry::EntityId> ids;
    for (const telemetry::Entity& entity : entities_) {
      if (std::find(kinds.begin(), kinds.end(), entity.id.kind) != kinds.end()) ids.push_back(entity.id);
    }
    return ids;
  };
  if (name.empty() || name == "all_gpus" || name == "0")
    return ChosenGroup{telemetry::kAllGpusGroup, "DCGM_ALL_SUPPORTED_GPUS", all_of({EntityKind::kGpu})};
  if (name == "1") return ChosenGroup{telemetry::kAllSwitchesGroup, "DCGM_ALL_SUPPORTED_NVSWITCHES", {}};
  if (name == "all_instances") return ChosenGroup{0, name, all_of({EntityKind::kGpuInstance})};
  if (name == "all_compute_instances") return ChosenGroup{0, name, all_of({EntityKind::kComputeInstance})};
  if (name == "all_entities")
    return ChosenGroup{0, name,
                       all_of({EntityKind::kGpu, EntityKind::kGpuInstance, EntityKind::kComputeInstance})};
  if (name.find_first_not_of("0123456789") != std::string::npos || name.size() > 9)
    return fail(ErrorCode::kInvalidArgument, format("Expected a numerical groupId. Instead, got '{}'", name));
  const auto id = static_cast<unsigned>(std::stoul(name));
  for (const telemetry::EntityGroup& group : state.groups) {
    if (group.id == id) return ChosenGroup{group.id, group.name, group.entities};
  }
  return fail(ErrorCode::kNotFound,
              format("Unable to retrieve information about group {}. Return: The Group is not found.", id));
}

std::vector<size_t> DcgmiSession::gpus_of(const std::vector<telemetry::EntityId>& ids) const {
  std::vector<size_t> places;
  for (const telemetry::EntityId id : ids) {
    const telemetry::Entity* entity = telemetry::find_entity(entities_, id);
    if (entity != nullptr && std::find(places.begin(), places.end(), entity->gpu) == places.end())
      places.push_back(entity->gpu);
  }
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<driver::Gpu> DcgmiSession::handles_of(const std::vector<size_t>& places) const {
  std::vector<driver::Gpu> gpus;
  for (const size_t place : places) gpus.push_back(nvml_.gpus()[place]);
  return gpus;
}

Flag dcgmi_flag(std::string_view name, std::vector<std::string_view> aliases, std::string_view value,
                Setter set, std::string help) {
  Flag row;
  row.name = name;
  row.aliases = std::move(aliases);
  row.takes = value.empty() ? Takes::kNothing : Takes::kValue;
  row.value_name = value;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

tl::expected<ParsedFlags, int> read_dcgmi_flags(FlagTable& table, std::span<const std::string> words) {
  std::string host;
  table.flags.push_back(dcgmi_flag("host", {}, "HOST", to_text(&host),
                                   "localhost alone: there is no daemon to ask, this machine is read"));
  auto parsed = parse_flags(table, words);
  if (parsed && !host.empty() && host != "localhost" && host != "127.0.0.1")
    parsed = fail(ErrorCode::kUnsupported,
                  format("--host {}: there is no daemon to ask; run `pagoda dcgmi` on that machine", host));
  if (!parsed) {
    fmt::print(stderr, "Error: {}\n{}\n", parsed.error().message,
               telemetry::sentence_of(DcgmStatus::kBadCommandLine));
    return tl::unexpected<int>(telemetry::exit_status(DcgmStatus::kBadCommandLine));
  }
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return tl::unexpected<int>(kExitOk);
  }
  return std::move(*parsed);
}

}  // namespace pagoda::app
