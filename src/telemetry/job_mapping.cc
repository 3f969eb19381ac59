#include "telemetry/job_mapping.h"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

// A prolog writes a few names; what is longer was not written by one.
constexpr size_t kMostJobs = 256, kLongestName = 512;

std::vector<std::string> read_jobs(const std::filesystem::path& path) {
  std::vector<std::string> jobs;
  std::ifstream file(path);
  for (std::string line; jobs.size() < kMostJobs && std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.size() <= kLongestName) jobs.push_back(std::move(line));
  }
  return jobs;
}

}  // namespace

Result<JobsByGpu> read_job_mapping(const std::string& folder) {
  std::error_code error;
  JobsByGpu jobs;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    unsigned gpu = 0;
    const auto [last, bad] = std::from_chars(name.data(), name.data() + name.size(), gpu);
    std::error_code unreadable;
    if (bad != std::errc() || last != name.data() + name.size() || !entry->is_regular_file(unreadable))
      continue;
    if (auto list = read_jobs(entry->path()); !list.empty()) jobs[gpu] = std::move(list);
  }
  if (error) {
    return fail(ErrorCode::kNotFound,
                format("the job mapping folder {} cannot be read: {}", folder, error.message()));
  }
  return jobs;
}

}  // namespace pagoda::telemetry
