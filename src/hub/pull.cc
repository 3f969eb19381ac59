#include "hub/pull.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/format.h"
#include "hub/hub_cache.h"

namespace pagoda::hub {
namespace {

namespace fs = std::filesystem;

class Pull {
 public:
  Pull(const PullRequest& request, const HubSettings& settings)
      : request_(request), settings_(settings), folder_(settings.cache, request.model) {}

  Result<fs::path> run(const OnBegin& on_begin) {
    if (settings_.offline)
      return fail(ErrorCode::kUnavailable,
                  format("{}: nothing is fetched while HF_HUB_OFFLINE is set", request_.model));
    HubClient client(settings_);
    PAGODA_ASSIGN(RemoteListing listing, client.list(request_.model, request_.revision));
    commit_ = listing.commit;
    PAGODA_ASSIGN(wanted_, choose(std::move(listing.files)));
    find_missing();
    PAGODA_TRY(check_room());
    on_begin(progress_, state_);
    fetch_all();
    if (fault_) return Unexpected(*fault_);
    for (const RemoteFile& file : wanted_) PAGODA_TRY(folder_.link(commit_, file.path, file.etag));
    PAGODA_TRY(folder_.write_ref(request_.revision, commit_));
    return folder_.snapshot(commit_);
  }

 private:
  Result<std::vector<RemoteFile>> choose(std::vector<RemoteFile> files) const {
    if (files.empty()) return fail(ErrorCode::kNotFound, format("{} has no files", request_.model), "model");
    std::erase_if(files, [&](const RemoteFile& file) { return !request_.patterns.wants(file.path); });
    if (files.empty())
      return fail(ErrorCode::kNotFound,
                  format("{}: no file is left by --include and --exclude", request_.model), "include");
    return request_.choose ? request_.choose(std::move(files))
                           : Result<std::vector<RemoteFile>>(std::move(files));
  }

  // Large files first, so that none of them is left alone at the end. Equal contents are fetched once.
  void find_missing() {
    std::set<std::string> seen;
    for (const RemoteFile& file : wanted_) {
      if (!seen.insert(file.etag).second) continue;
      ++progress_.files;
      progress_.bytes += file.size;
      std::error_code error;
      if (fs::exists(folder_.blob(file.etag), error)) {
        progress_.bytes_here += file.size;
      } else {
        missing_.push_back(file);
      }
    }
    progress_.files_missing = static_cast<int>(missing_.size());
    state_.bytes_done = progress_.bytes_here;
    std::stable_sort(missing_.begin(), missing_.end(),
                     [](const auto& a, const auto& b) { return a.size > b.size; });
  }

  Status check_room() const {
    int64_t needed = 0;
    for (const RemoteFile& file : missing_) {
      std::error_code error;
      const auto part = fs::file_size(folder_.blob(file.etag).string() + ".incomplete", error);
      needed += std::max<int64_t>(0, file.size - (error ? 0 : static_cast<int64_t>(part)));
    }
    std::error_code error;
    fs::create_directories(folder_.path(), error);
    if (error)
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: cannot be made: {}; HF_HUB_CACHE names another place", folder_.path().string(),
                         error.message()));
    const fs::space_info space = fs::space(folder_.path(), error);
    if (error || static_cast<int64_t>(space.available) >= needed) return {};
    return fail(ErrorCode::kResourceExhausted,
                format("{} needs {:.1f} GB and {} has {:.1f} GB free; make room, or name another disk by "
                       "HF_HUB_CACHE",
                       request_.model, static_cast<double>(needed) / 1e9, settings_.cache.string(),
                       static_cast<double>(space.available) / 1e9));
  }

  void fetch_all() {
    std::vector<std::thread> threads;
    const int count = std::min<int>(request_.parallel, static_cast<int>(missing_.size()));
    for (int i = 0; i < count; ++i) threads.emplace_back([this] { fetch_some(); });
    for (std::thread& thread : threads) thread.join();
  }

  void fetch_some() {
    HubClient client(settings_);
    for (size_t i; !state_.stopped && (i = next_++) < missing_.size();) {
      FileDownload download(client, folder_, state_, request_.retries);
      if (Status done = download.run(request_.model, commit_, missing_[i]); !done) keep_fault(done.error());
    }
  }

  // The first fault ends the others; what they have is kept for the next run.
  void keep_fault(Error error) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(error);
    state_.stopped = true;
  }

  const PullRequest& request_;
  const HubSettings& settings_;
  const ModelFolder folder_;
  std::string commit_;
  std::vector<RemoteFile> wanted_, missing_;
  PullProgress progress_;
  DownloadState state_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::optional<Error> fault_;  // guarded by mutex_
};

}  // namespace

Result<fs::path> pull(const PullRequest& request, const HubSettings& settings, const OnBegin& on_begin) {
  return Pull(request, settings).run(on_begin);
}

}  // namespace pagoda::hub
