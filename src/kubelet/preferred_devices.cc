// Which devices would be best together.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "kubelet/allocation.h"

namespace pagoda::kubelet {
namespace {

using Devices = std::vector<const PluginDevice*>;

// Above this many sets the best one is approached device by device.
constexpr double kSetsMax = 20000;

double sets_of(size_t count, size_t of) {
  double sets = 1;
  for (size_t i = 0; i < count; ++i) sets *= static_cast<double>(of - i) / static_cast<double>(i + 1);
  return sets;
}

int closeness_within(const Devices& devices, const GpuCloseness& closeness) {
  int sum = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    for (size_t j = i + 1; j < devices.size(); ++j) sum += closeness.of(devices[i]->gpu, devices[j]->gpu);
  }
  return sum;
}

// Every set of `count` devices out of `free`, in order, beside those that must be in it.
class BestSet {
 public:
  BestSet(const Devices& must, const Devices& free, size_t count, const GpuCloseness& closeness)
      : free_(free), count_(count), closeness_(closeness), set_(must) {
    extend(0);
  }
  const Devices& best() const { return best_; }

 private:
  void extend(size_t from) {
    if (set_.size() == count_) return weigh();
    for (size_t i = from; i < free_.size(); ++i) {
      set_.push_back(free_[i]);
      extend(i + 1);
      set_.pop_back();
    }
  }

  void weigh() {
    Devices rest;
    std::copy_if(free_.begin(), free_.end(), std::back_inserter(rest), [&](const PluginDevice* device) {
      return std::find(set_.begin(), set_.end(), device) == set_.end();
    });
    const std::pair score(closeness_within(set_, closeness_), closeness_within(rest, closeness_));
    if (!best_.empty() && score <= best_score_) return;
    best_ = set_;
    best_score_ = score;
  }

  const Devices& free_;
  size_t count_;
  const GpuCloseness& closeness_;
  Devices set_, best_;
  std::pair<int, int> best_score_{-1, -1};
};

// One after another, always the device of the highest score.
template <class Score>
Devices one_by_one(Devices chosen, Devices free, size_t count, Score score) {
  while (chosen.size() < count) {
    const auto next = std::max_element(free.begin(), free.end(), [&](const auto* a, const auto* b) {
      return score(chosen, *a) < score(chosen, *b);
    });
    chosen.push_back(*next);
    free.erase(next);
  }
  return chosen;
}

Devices spread(const Devices& must, const Devices& free, size_t count) {
  std::map<std::string, int> unused;  // replicas that are left, by UUID
  for (const auto* device : free) ++unused[device->uuid];
  return one_by_one(must, free, count, [&](const Devices& chosen, const PluginDevice& device) {
    const auto taken = std::count_if(chosen.begin(), chosen.end(),
                                     [&](const auto* other) { return other->uuid == device.uuid; });
    return std::pair(-taken, unused.at(device.uuid));
  });
}

Devices well_connected(const Devices& must, const Devices& free, size_t count,
                       const GpuCloseness& closeness) {
  if (sets_of(count - must.size(), free.size()) <= kSetsMax)
    return BestSet(must, free, count, closeness).best();
  return one_by_one(must, free, count, [&](const Devices& chosen, const PluginDevice& device) {
    int sum = 0;
    for (const auto* other : chosen) sum += closeness.of(other->gpu, device.gpu);
    return sum;
  });
}

Result<Devices> find_all(const PluginResource& resource, const std::vector<std::string>& ids) {
  Devices devices;
  for (const auto& id : ids) {
    const PluginDevice* device = resource.find(id);
    if (device == nullptr)
      return fail(ErrorCode::kInvalidArgument, format("{} has no device '{}'", resource.name, id));
    devices.push_back(device);
  }
  // The resource's own order, which is that of the GPUs: the kubelet's is random.
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace

Result<std::vector<std::string>> preferred_devices(const PluginResource& resource,
                                                   const GpuCloseness& closeness,
                                                   const PreferenceRequest& request) {
  PAGODA_ASSIGN(const auto must, find_all(resource, request.must_include));
  PAGODA_ASSIGN(auto free, find_all(resource, request.available));
  free.erase(std::remove_if(free.begin(), free.end(),
                            [&](const auto* device) {
                              return std::find(must.begin(), must.end(), device) != must.end();
                            }),
             free.end());
  const auto count = static_cast<size_t>(std::max(request.count, 0));
  if (count < must.size() || count > must.size() + free.size()) {
    return fail(ErrorCode::kInvalidArgument, format("{} of {} are wanted, {} of them named, and {} are free",
                                                    request.count, resource.name, must.size(), free.size()));
  }
  const bool shared = std::any_of(resource.devices.begin(), resource.devices.end(),
                                  [](const auto& device) { return device.id != device.uuid; });
  const Devices chosen = shared ? spread(must, free, count) : well_connected(must, free, count, closeness);
  std::vector<std::string> ids;
  for (const auto* device : chosen) ids.push_back(device->id);
  return ids;
}

}  // namespace pagoda::kubelet
