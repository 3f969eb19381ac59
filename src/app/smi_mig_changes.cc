#include "app/smi_mig_changes.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <tuple>
#include <type_traits>

#include "base/format.h"

namespace pagoda::app {
namespace {

namespace nvml = driver::nvml;
using driver::Gpu;
using driver::Reading;
using driver::sentence_of;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::optional<unsigned> number(const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// A profile as NVML lists it; the name without "MIG ".
struct Profile {
  unsigned id = 0, most = 0;
  std::string name;
};
template <class Info>
Profile profile_of(const Info& info) {
  std::string name(info.name, strnlen(info.name, sizeof info.name));
  if (name.starts_with("MIG ")) name.erase(0, 4);
  return {info.id, info.instanceCount, std::move(name)};
}

std::vector<Profile> gpu_profiles(const Gpu& gpu) {
  using Info = nvmlGpuInstanceProfileInfo_v2_t;
  std::vector<Profile> profiles;
  for (unsigned i = 0; i < NVML_GPU_INSTANCE_PROFILE_COUNT; ++i) {
    const auto info = gpu.run<Info>(nvml::kDeviceGetGpuInstanceProfileInfoV,
                                    [i](auto* function, nvmlDevice_t device, Info& answer) {
                                      answer.version = nvmlGpuInstanceProfileInfo_v2;
                                      return function(device, i, &answer);
                                    });
    if (info) profiles.push_back(profile_of(*info));
  }
  return profiles;
}

std::vector<Profile> compute_profiles(const Gpu& gpu, nvmlGpuInstance_t parent) {
  using Info = nvmlComputeInstanceProfileInfo_v2_t;
  std::vector<Profile> profiles;
  for (unsigned i = 0; i < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; ++i) {
    const auto info = gpu.run<Info>(
        nvml::kGpuInstanceGetComputeInstanceProfileInfoV, [=](auto* function, nvmlDevice_t, Info& answer) {
          answer.version = nvmlComputeInstanceProfileInfo_v2;
          return function(parent, i, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, &answer);
        });
    if (info) profiles.push_back(profile_of(*info));
  }
  return profiles;
}

const Profile* chosen(const std::vector<Profile>& profiles, const std::string& word) {
  const auto id = number(word);
  const auto found = std::find_if(profiles.begin(), profiles.end(),
                                  [&](const Profile& p) { return id ? p.id == *id : p.name == word; });
  return found == profiles.end() ? nullptr : &*found;
}

template <class Handle, class Function, class Owner>
std::vector<Handle> handles(const Gpu& gpu, const nvml::Call<Function>& call, const Profile& profile,
                            Owner owner) {
  using List = std::vector<Handle>;
  const auto list = gpu.run<List>(
      call, [=, id = profile.id, most = profile.most](auto* function, nvmlDevice_t device, List& items) {
        items.resize(std::max(most, 8u));
        auto count = static_cast<unsigned>(items.size());
        nvmlReturn_t code = NVML_SUCCESS;
        if constexpr (std::is_same_v<Owner, nvmlGpuInstance_t>) {
          code = function(owner, id, items.data(), &count);
        } else {
          code = function(device, id, items.data(), &count);
        }
        items.resize(code == NVML_SUCCESS ? count : 0);
        return code;
      });
  return list ? *list : List{};
}

struct GpuInstance {
  nvmlGpuInstance_t handle = nullptr;
  unsigned id = 0;
};

std::vector<GpuInstance> gpu_instances(const Gpu& gpu) {
  std::vector<GpuInstance> out;
  for (const Profile& profile : gpu_profiles(gpu)) {
    for (const auto handle :
         handles<nvmlGpuInstance_t>(gpu, nvml::kDeviceGetGpuInstances, profile, nullptr)) {
      const auto info = gpu.run<nvmlGpuInstanceInfo_t>(
          nvml::kGpuInstanceGetInfo, [=](auto* function, nvmlDevice_t, nvmlGpuInstanceInfo_t& answer) {
            return function(handle, &answer);
          });
      if (info) out.push_back({handle, info->id});
    }
  }
  std::sort(out.begin(), out.end(), [](const GpuInstance& a, const GpuInstance& b) { return a.id < b.id; });
  return out;
}

bool among(const std::string& list, unsigned id) {
  if (list.empty()) return true;
  const auto words = split(list);
  return std::find(words.begin(), words.end(), format("{}", id)) != words.end();
}

// One GPU; each step says what it did, or why not.
class Changer {
 public:
  Changer(const Gpu& gpu, const MigChanges& changes, std::string& out)
      : gpu_(gpu), changes_(changes), out_(out) {}

  nvmlReturn_t run() {
    if (!changes_.create_gpu_instances.empty()) return create_gpu_instances();
    if (!changes_.create_compute_instances.empty())
      return for_each_instance([&](const GpuInstance& instance) {
        return create_compute_instances(instance, changes_.create_compute_instances);
      });
    if (changes_.destroy_compute_instances)
      return for_each_instance(
          [&](const GpuInstance& instance) { return destroy_compute_instances(instance); });
    return for_each_instance([&](const GpuInstance& instance) { return destroy_gpu_instance(instance); });
  }

 private:
  nvmlReturn_t refuse(const std::string& what, nvmlReturn_t code) {
    out_ += format("Unable to {} on GPU {:2}: {}\n", what, gpu_.index(), sentence_of(code));
    return code;
  }

  template <class Body>
  nvmlReturn_t for_each_instance(Body body) {
    size_t found = 0;
    for (const GpuInstance& instance : gpu_instances(gpu_)) {
      if (!among(changes_.gpu_instances, instance.id)) continue;
      ++found;
      if (const nvmlReturn_t code = body(instance); code != NVML_SUCCESS) return code;
    }
    if (found > 0) return NVML_SUCCESS;
    out_ += format("No GPU instances found: {}\n", sentence_of(NVML_ERROR_NOT_FOUND));
    return NVML_ERROR_NOT_FOUND;
  }

  nvmlReturn_t create_gpu_instances() {
    const auto profiles = gpu_profiles(gpu_);
    for (const std::string& word : split(changes_.create_gpu_instances)) {
      const Profile* profile = chosen(profiles, word);
      if (profile == nullptr) {
        out_ += format("GPU {:2} has no GPU instance profile '{}'; `mig -lgip` lists them.\n", gpu_.index(),
                       word);
        return NVML_ERROR_INVALID_ARGUMENT;
      }
      const auto made = gpu_.read(nvml::kDeviceCreateGpuInstance, profile->id);
      if (!made)
        return refuse(format("create a GPU instance using profile {}", profile->id), made.error().code);
      const nvmlGpuInstance_t handle = *made;
      const auto info = gpu_.run<nvmlGpuInstanceInfo_t>(
          nvml::kGpuInstanceGetInfo, [=](auto* function, nvmlDevice_t, nvmlGpuInstanceInfo_t& answer) {
            return function(handle, &answer);
          });
      const unsigned id = info ? info->id : 0;
      out_ += format("Successfully created GPU instance ID {:2} on GPU {:2} using profile MIG {} (ID {:2})\n",
                     id, gpu_.index(), profile->name, profile->id);
      if (!changes_.with_compute_instances) continue;
      if (const nvmlReturn_t code = create_compute_instances({handle, id}, "default"); code != NVML_SUCCESS)
        return code;
    }
    return NVML_SUCCESS;
  }

  nvmlReturn_t create_compute_instances(const GpuInstance& parent, const std::string& words) {
    const auto profiles = compute_profiles(gpu_, parent.handle);
    for (const std::string& word : split(words)) {
      // The whole of the GPU instance is the profile of which one fits.
      const auto whole =
          std::find_if(profiles.begin(), profiles.end(), [](const Profile& p) { return p.most == 1; });
      const Profile* profile =
          word == "default" ? (whole == profiles.end() ? nullptr : &*whole) : chosen(profiles, word);
      if (profile == nullptr) {
        out_ += format("GPU instance {} of GPU {:2} has no compute instance profile '{}'.\n", parent.id,
                       gpu_.index(), word);
        return NVML_ERROR_INVALID_ARGUMENT;
      }
      const auto made =
          gpu_.run<nvmlComputeInstance_t>(nvml::kGpuInstanceCreateComputeInstance,
                                          [handle = parent.handle, id = profile->id](
                                              auto* function, nvmlDevice_t, nvmlComputeInstance_t& out) {
                                            return function(handle, id, &out);
                                          });
      if (!made)
        return refuse(
            format("create a compute instance using profile {} in GPU instance {}", profile->id, parent.id),
            made.error().code);
      out_ += format(
          "Successfully created compute instance ID {:2} on GPU {:2} GPU instance ID {:2} using profile MIG "
          "{} (ID "
          "{:2})\n",
          compute_id(*made).value_or(0), gpu_.index(), parent.id, profile->name, profile->id);
    }
    return NVML_SUCCESS;
  }

  std::optional<unsigned> compute_id(nvmlComputeInstance_t handle) const {
    const auto info = gpu_.run<nvmlComputeInstanceInfo_t>(
        nvml::kComputeInstanceGetInfo_v2,
        [=](auto* function, nvmlDevice_t, nvmlComputeInstanceInfo_t& answer) {
          return function(handle, &answer);
        });
    return info ? std::optional(info->id) : std::nullopt;
  }

  nvmlReturn_t destroy_compute_instances(const GpuInstance& parent) {
    for (const Profile& profile : compute_profiles(gpu_, parent.handle)) {
      for (const auto handle : handles<nvmlComputeInstance_t>(gpu_, nvml::kGpuInstanceGetComputeInstances,
                                                              profile, parent.handle)) {
        const unsigned id = compute_id(handle).value_or(0);
        if (!among(changes_.compute_instances, id)) continue;
        const auto gone = destroy(nvml::kComputeInstanceDestroy, handle);
        if (!gone)
          return refuse(format("destroy compute instance ID {:2} of GPU instance ID {:2}", id, parent.id),
                        gone.error().code);
        out_ += format("Successfully destroyed compute instance ID {:2} from GPU {:2} GPU instance ID {:2}\n",
                       id, gpu_.index(), parent.id);
      }
    }
    return NVML_SUCCESS;
  }

  nvmlReturn_t destroy_gpu_instance(const GpuInstance& instance) {
    const auto gone = destroy(nvml::kGpuInstanceDestroy, instance.handle);
    if (!gone) return refuse(format("destroy GPU instance ID {:2}", instance.id), gone.error().code);
    out_ += format("Successfully destroyed GPU instance ID {:2} from GPU {:2}\n", instance.id, gpu_.index());
    return NVML_SUCCESS;
  }

  template <class Call, class Handle>
  Reading<std::tuple<>> destroy(const Call& call, Handle handle) const {
    return gpu_.run<std::tuple<>>(call,
                                  [=](auto* function, nvmlDevice_t, auto&) { return function(handle); });
  }

  const Gpu& gpu_;
  const MigChanges& changes_;
  std::string& out_;
};

}  // namespace

bool any(const MigChanges& changes) {
  return !changes.create_gpu_instances.empty() || !changes.create_compute_instances.empty() ||
         changes.destroy_gpu_instances || changes.destroy_compute_instances;
}

int change_mig(const MigChanges& changes, const std::vector<Gpu>& gpus, std::string& out) {
  for (const Gpu& gpu : gpus) {
    if (!gpu.handle()) return gpu.handle().error().code;
    const auto mode = gpu.read(nvml::kDeviceGetMigMode);
    if (mode && std::get<0>(*mode) == 0 && gpus.size() > 1) continue;  // as nvidia-smi: those in MIG mode
    if (const nvmlReturn_t code = Changer(gpu, changes, out).run(); code != NVML_SUCCESS) {
      out += format("Failed to {}: {}\n",
                    changes.create_gpu_instances.empty() && changes.create_compute_instances.empty()
                        ? "destroy instances"
                        : "create instances",
                    sentence_of(code));
      return code;
    }
  }
  return NVML_SUCCESS;
}

}  // namespace pagoda::app
