// One file of a hub into the cache: what a broken run left is gone on with, a lost connection is tried again,
// and the content is kept only where its hash is the one that the hub told.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "hub/content_digest.h"
#include "hub/hub_cache.h"
#include "hub/hub_client.h"

namespace pagoda::hub {

// What all downloads of a pull share. Any thread.
struct DownloadState {
  std::atomic<int64_t> bytes_done{0};  // of all files, what was here before included
  std::atomic<bool> stopped{false};    // ends every download soon, with kCancelled
};

struct RetryLimits {
  int attempts = 6;            // without a byte of progress in between
  double first_pause_s = 0.5;  // doubled each time, up to `longest_pause_s`
  double longest_pause_s = 8;
};

class FileDownload {
 public:
  FileDownload(HubClient& client, const ModelFolder& folder, DownloadState& state, const RetryLimits& limits)
      : client_(client), folder_(folder), state_(state), limits_(limits) {}
  ~FileDownload();
  FileDownload(const FileDownload&) = delete;
  FileDownload& operator=(const FileDownload&) = delete;

  // Afterwards folder.blob(file.etag) is whole. One file per object.
  Status run(const std::string& model, const std::string& commit, const RemoteFile& file);

 private:
  Status open_partial(const RemoteFile& file);
  Status continue_from(int64_t offset, const RemoteFile& file);
  Status hash_what_is_there(const RemoteFile& file);
  Status take(std::string_view bytes, const RemoteFile& file);
  Status read_once(const std::string& model, const std::string& commit, const RemoteFile& file);
  Status read_all(const std::string& model, const std::string& commit, const RemoteFile& file);
  Status check_and_keep(const RemoteFile& file);
  void count(int64_t bytes);
  bool pause(double seconds) const;

  HubClient& client_;
  const ModelFolder& folder_;
  DownloadState& state_;
  const RetryLimits limits_;
  std::string partial_;  // path
  int descriptor_ = -1;
  int64_t have_ = 0;  // bytes in the partial file, all of them in digest_
  std::unique_ptr<ContentDigest> digest_;
};

}  // namespace pagoda::hub
