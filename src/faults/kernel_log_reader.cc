#include "faults/kernel_log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/format.h"
#include "faults/command_output.h"
#include "faults/line_time.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr size_t kRecordBytes = 8192;            // the kernel's longest record
constexpr double kEarlySeconds = 60;             // the first message of a whole log comes before
constexpr double kJournalSeconds = 20;           // that journalctl may take
constexpr size_t kMostBytes = size_t{64} << 20;  // of a log; the kernel's own is at most 16 MiB

// Each read of the device returns one record; it never ends but would block.
std::string read_device(int descriptor) {
  std::string log;
  std::vector<char> record(kRecordBytes);
  while (log.size() < kMostBytes) {
    const ssize_t count = ::read(descriptor, record.data(), record.size());
    if (count < 0 && (errno == EPIPE || errno == EINTR))
      continue;  // EPIPE: the record was overwritten meanwhile
    if (count <= 0) break;
    log += dmesg_line({record.data(), static_cast<size_t>(count)});
  }
  return log;
}

std::string read_laid_out(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string log, line;
  while (log.size() < kMostBytes && std::getline(file, line)) log += dmesg_line(line + "\n");
  return log;
}

}  // namespace

std::string dmesg_line(std::string_view record) {
  const size_t semicolon = record.find(';');
  const auto parts = split_at(record.substr(0, semicolon), ",");
  int64_t microseconds = 0;
  const bool is_record =
      semicolon != std::string_view::npos && parts.size() >= 4 &&
      std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), microseconds).ec == std::errc();
  if (!is_record) return std::string(record);
  std::string_view text = record.substr(semicolon + 1);
  text = text.substr(0, text.find('\n'));  // what follows are the record's properties
  return format("[{:5d}.{:06d}] {}\n", microseconds / 1'000'000, microseconds % 1'000'000, text);
}

bool begins_at_boot(std::string_view log) {
  const LineTime first = time_of_line(log.substr(0, log.find('\n')));
  return first.clock != LineTime::Clock::kBoot || first.seconds < kEarlySeconds;
}

std::optional<std::string> read_journal_of_kernel() {
  auto journal =
      output_of({"journalctl", "--dmesg", "--boot", "--output=short-precise", "--no-pager", "--quiet"},
                kJournalSeconds, kMostBytes);
  if (!journal || journal->find(" kernel: ") == std::string::npos) return std::nullopt;
  return journal;
}

Result<std::string> read_kernel_log(const std::filesystem::path& root) {
  const std::filesystem::path path = root / "dev/kmsg";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    const int why = errno;
    const bool denied = why == EACCES || why == EPERM;
    return fail(denied ? ErrorCode::kUnauthorized : ErrorCode::kNotFound,
                denied ? "the kernel log may not be read by this user: run as root, or give it with `--from`"
                       : format("the kernel log is not there ({}: {})", path.string(), std::strerror(why)));
  }
  struct stat status {};
  const bool is_device = ::fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode);
  std::string log = is_device ? read_device(descriptor) : std::string();
  ::close(descriptor);
  return is_device ? log : read_laid_out(path);
}

}  // namespace pagoda::faults
