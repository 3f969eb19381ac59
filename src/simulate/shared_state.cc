#include "simulate/shared_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/format.h"
#include "driver/nvml_reading.h"

namespace pagoda::simulate {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

unsigned long long fnv1a(const std::string& text) {
  unsigned long long hash = 14695981039346656037ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return hash;
}

// "h100x8:training" → "h100x8_training-1a2b3c4d"; of a file its whole path counts.
std::string stem_of(const std::string& scenario) {
  std::error_code ignored;
  const std::string whole =
      is_scenario_file(scenario) ? std::filesystem::weakly_canonical(scenario, ignored).string() : scenario;
  std::string stem = std::filesystem::path(whole).filename().string();
  for (char& c : stem) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  }
  return format("{}-{:08x}", stem, fnv1a(whole) & 0xFFFFFFFF);
}

// A lock that ends with the process.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : descriptor_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

Status write_whole(const std::string& path, const std::string& text) {
  const std::string fresh = format("{}.{}", path, ::getpid());
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << text;
    if (!file.flush())
      return fail(ErrorCode::kUnavailable, format("cannot write {}: {}", fresh, std::strerror(errno)));
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0)
    return fail(ErrorCode::kUnavailable, format("cannot write {}: {}", path, std::strerror(errno)));
  return {};
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string number_text(Number number) {
  char text[64];
  const bool whole = std::floor(number) == number && std::fabs(number) < 1e20L;
  std::snprintf(text, sizeof text, whole ? "%.0Lf" : "%.17Lg", number);
  return text;
}

std::string value_text(const Value& value);

std::string record_text(const Record& record) {
  std::string text = "{";
  for (const auto& [key, value] : record)
    text += format("{}{}: {}", text.size() > 1 ? ", " : "", key, value_text(value));
  return text + "}";
}

std::string curve_text(const Value& value) {
  const Curve& curve = *value.curve;
  std::string text = "{";
  if (curve.shape == Curve::Shape::kWave) {
    text +=
        format("wave: {{mean: {}, amplitude: {}, period_s: {}}}", curve.mean, curve.amplitude, curve.period);
  } else if (curve.shape == Curve::Shape::kSlope) {
    text += format("slope: {{from: {}, per_second: {}}}", curve.from, curve.per_second);
  } else {
    text += curve.shape == Curve::Shape::kSteps ? "steps: [" : "line: [";
    for (size_t i = 0; i < curve.points.size(); ++i)
      text += format("{}[{}, {}]", i == 0 ? "" : ", ", curve.points[i].first, curve.points[i].second);
    text += curve.repeat ? "], repeat: yes" : "]";
  }
  if (!value.share_of.empty()) text += format(", share_of: {}", value.share_of);
  if (value.round != 0) text += format(", round: {}", value.round);
  return text + "}";
}

std::string value_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNumber:
      if (!value.share_of.empty())
        return format("{{value: {}, share_of: {}, round: {}}}", number_text(value.number), value.share_of,
                      value.round);
      if (!value.integral_of.empty())
        return format("{{value: {}, integral_of: {}}}", number_text(value.number), value.integral_of);
      return number_text(value.number);
    case Value::Kind::kText:
      return quoted(value.text);
    case Value::Kind::kError:
      return std::string(driver::name_of(value.error));
    case Value::Kind::kCurve:
      return curve_text(value);
    case Value::Kind::kList:
      break;
  }
  std::string text = "[";
  for (const Record& record : *value.list) text += (text.size() > 1 ? ", " : "") + record_text(record);
  return text + "]";
}

std::string lines_of(const Record& record, std::string_view prefix, std::string_view indent) {
  std::string text;
  for (const auto& [key, value] : record)
    text += format("{}{}: {}\n", indent, key.substr(prefix.size()), value_text(value));
  return text;
}

}  // namespace

Result<SharedPaths> shared_paths(const std::string& scenario) {
  std::string folder = environment("PAGODA_SIMULATE_DIR");
  if (folder.empty() && !environment("XDG_RUNTIME_DIR").empty())
    folder = environment("XDG_RUNTIME_DIR") + "/pagoda/simulate";
  if (folder.empty()) folder = format("/tmp/pagoda-{}/simulate", ::getuid());
  std::error_code fault;
  if (std::filesystem::create_directories(folder, fault)) ::chmod(folder.c_str(), 0700);
  // Not a folder that another user put there to have us write into it.
  struct stat info {};
  const bool ours = ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                    (info.st_uid == ::geteuid() || info.st_uid == 0) && ::access(folder.c_str(), W_OK) == 0;
  if (!ours)
    return fail(ErrorCode::kUnavailable,
                format("cannot keep the simulated GPUs' state in {}; set PAGODA_SIMULATE_DIR "
                       "to a folder of your own",
                       folder));
  const std::string stem = folder + "/" + stem_of(scenario);
  return SharedPaths{stem + ".state.yaml", stem + ".control.yaml"};
}

bool WatchedFile::changed() {
  struct stat info {};
  Version now;
  if (::stat(path_.c_str(), &info) == 0) {
    now = {true, info.st_ino, static_cast<long long>(info.st_size),
           static_cast<long long>(info.st_mtim.tv_sec), static_cast<long long>(info.st_mtim.tv_nsec)};
  }
  const bool other = !asked_ || now != seen_;
  asked_ = true;
  seen_ = now;
  return other;
}

Result<std::string> WatchedFile::read() const {
  std::ifstream file(path_);
  if (!file) return fail(ErrorCode::kNotFound, format("no file {}", path_));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Status change_overlay(const std::string& path, const std::function<void(Overlay&)>& change) {
  const FileLock lock(path + ".lock");
  if (!lock.held())
    return fail(ErrorCode::kUnavailable, format("cannot lock {}: {}", path, std::strerror(errno)));
  Overlay overlay;
  if (const auto text = WatchedFile(path).read()) {
    PAGODA_ASSIGN(overlay, parse_overlay(*text, path));
  }
  change(overlay);
  return write_whole(path, to_yaml(overlay));
}

std::string to_yaml(const Overlay& overlay) {
  std::string text;
  if (overlay.epoch_us) text += format("epoch_us: {:.0f}\n", *overlay.epoch_us);
  if (!overlay.system.empty()) text += "system:\n" + lines_of(overlay.system, "system.", "  ");
  if (!overlay.gpus.empty()) {
    text += "gpus:\n";
    for (const auto& [selector, record] : overlay.gpus)
      text += record.empty() ? format("  {}: {{}}\n", quoted(selector))
                             : format("  {}:\n", quoted(selector)) + lines_of(record, "", "    ");
  }
  return text.empty() ? "{}\n" : text;
}

}  // namespace pagoda::simulate
