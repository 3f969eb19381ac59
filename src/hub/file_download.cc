#include "hub/file_download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/format.h"

namespace pagoda::hub {
namespace {

constexpr size_t kSha256Digits = 64, kSha1Digits = 40;

// Hubs that are not the original may name their files by something that is no hash of the content.
bool is_hash(const std::string& etag) {
  return (etag.size() == kSha256Digits || etag.size() == kSha1Digits) &&
         etag.find_first_not_of("0123456789abcdef") == std::string::npos;
}

DigestKind kind_of(const std::string& etag) {
  return etag.size() == kSha256Digits ? DigestKind::kSha256 : DigestKind::kGitSha1;
}

Unexpected errno_fault(const std::string& path) {
  const std::string_view remedy =
      errno == ENOSPC ? "; make room, then pull again: it goes on where it stopped" : "";
  return fail(ErrorCode::kInternal,
              format("{}: cannot be written: {}{}", path, std::strerror(errno), remedy));
}

}  // namespace

FileDownload::~FileDownload() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileDownload::count(int64_t bytes) {
  have_ += bytes;
  state_.bytes_done += bytes;
}

// False when the pull was stopped meanwhile.
bool FileDownload::pause(double seconds) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!state_.stopped && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return !state_.stopped;
}

Status FileDownload::open_partial(const RemoteFile& file) {
  partial_ = folder_.blob(file.etag).string() + ".incomplete";
  std::error_code error;
  std::filesystem::create_directories(folder_.path() / "blobs", error);
  descriptor_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return errno_fault(partial_);
  return hash_what_is_there(file);
}

Status FileDownload::hash_what_is_there(const RemoteFile& file) {
  digest_ = std::make_unique<ContentDigest>(kind_of(file.etag), file.size);
  std::string block(size_t{1} << 20, '\0');
  while (have_ < file.size && !state_.stopped) {
    const ssize_t got = ::pread(descriptor_, block.data(), block.size(), have_);
    if (got < 0) return errno_fault(partial_);
    if (got == 0) break;
    const int64_t used = std::min<int64_t>(got, file.size - have_);
    digest_->add({block.data(), static_cast<size_t>(used)});
    count(used);
  }
  return {};
}

// The server goes on where we are, or begins anew because it knows no ranges.
Status FileDownload::continue_from(int64_t offset, const RemoteFile& file) {
  if (offset == have_) return {};
  count(-have_);
  digest_ = std::make_unique<ContentDigest>(kind_of(file.etag), file.size);
  if (::ftruncate(descriptor_, 0) != 0) return errno_fault(partial_);
  return {};
}

Status FileDownload::take(std::string_view bytes, const RemoteFile& file) {
  if (state_.stopped) return fail(ErrorCode::kCancelled, "stopped");
  if (have_ + static_cast<int64_t>(bytes.size()) > file.size)
    return fail(ErrorCode::kCorruptData,
                format("{}: more came than the {} bytes of the file", file.path, file.size));
  for (std::string_view left = bytes; !left.empty();) {
    const int64_t at = have_ + static_cast<int64_t>(bytes.size() - left.size());
    const ssize_t written = ::pwrite(descriptor_, left.data(), left.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_fault(partial_);
    left.remove_prefix(static_cast<size_t>(written));
  }
  digest_->add(bytes);
  count(static_cast<int64_t>(bytes.size()));
  return {};
}

Status FileDownload::read_once(const std::string& model, const std::string& commit, const RemoteFile& file) {
  PAGODA_TRY(client_.read(
      model, commit, file, have_, [&](int64_t offset) { return continue_from(offset, file); },
      [&](std::string_view bytes) { return take(bytes, file); }));
  if (have_ == file.size) return {};
  return fail(ErrorCode::kUnavailable,
              format("{}: the connection ended after {} of {} bytes", file.path, have_, file.size));
}

Status FileDownload::read_all(const std::string& model, const std::string& commit, const RemoteFile& file) {
  double pause_s = limits_.first_pause_s;
  for (int failures = 0; have_ < file.size || file.size == 0;) {
    const int64_t before = have_;
    const Status read = read_once(model, commit, file);
    if (read) return {};
    if (read.error().code != ErrorCode::kUnavailable) return read;
    if (have_ > before) {
      failures = 0;
      pause_s = limits_.first_pause_s;
    }
    if (++failures >= limits_.attempts)
      return fail(ErrorCode::kUnavailable,
                  format("{}; given up after {} attempts. `pagoda pull {}` goes on where it stopped",
                         read.error().message, failures, model));
    if (!pause(pause_s)) return fail(ErrorCode::kCancelled, "stopped");
    pause_s = std::min(2 * pause_s, limits_.longest_pause_s);
  }
  return {};
}

Status FileDownload::check_and_keep(const RemoteFile& file) {
  const std::string hash = digest_->hexadecimal();
  if (is_hash(file.etag) && hash != file.etag) {
    ::unlink(partial_.c_str());
    return fail(ErrorCode::kCorruptData,
                format("{}: what came has the hash {}, the hub says {}: thrown away", file.path,
                       hash.substr(0, 12) + "…", file.etag.substr(0, 12) + "…"));
  }
  if (::ftruncate(descriptor_, file.size) != 0 || ::fsync(descriptor_) != 0) return errno_fault(partial_);
  const std::string place = folder_.blob(file.etag).string();
  if (::rename(partial_.c_str(), place.c_str()) != 0) return errno_fault(place);
  return {};
}

Status FileDownload::run(const std::string& model, const std::string& commit, const RemoteFile& file) {
  std::error_code ignored;
  std::optional<FileLock> held;
  while (!held) {
    auto lock = FileLock::take(folder_.lock(file.etag).string(), 1);
    if (lock) {
      held.emplace(std::move(*lock));
    } else if (lock.error().code != ErrorCode::kUnavailable || !pause(0.1)) {
      return Unexpected(std::move(lock).error());
    }
  }
  // Another run may have brought it while we waited.
  if (std::filesystem::exists(folder_.blob(file.etag), ignored)) {
    count(file.size);
    return {};
  }
  for (bool again = true;; again = false) {
    PAGODA_TRY(open_partial(file));
    Status read = read_all(model, commit, file);
    if (read) read = check_and_keep(file);
    ::close(std::exchange(descriptor_, -1));
    if (read || read.error().code != ErrorCode::kCorruptData) return read;
    // Once more from the start: what an interrupted run left may have been another file's.
    count(-have_);
    ::unlink(partial_.c_str());
    if (!again)
      return fail(ErrorCode::kCorruptData,
                  format("{}. Twice now: a proxy or a mirror in between changes it", read.error().message));
  }
}

}  // namespace pagoda::hub
