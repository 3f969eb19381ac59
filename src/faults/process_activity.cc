#include "faults/process_activity.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr size_t kMostThreads = 256;  // of one process that are looked at
constexpr int kLeastLooks = 4;        // fewer may all have met a thread by chance

// The numbers of /proc/…/stat that follow the name in parentheses, the state first (proc(5), fields 3 on).
std::vector<std::string_view> stat_fields(std::string_view stat) {
  const size_t close = stat.rfind(") ");
  return close == std::string_view::npos ? std::vector<std::string_view>() : words_of(stat.substr(close + 2));
}

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// utime + stime: fields 14 and 15 of proc(5).
double cpu_seconds(std::string_view stat) {
  const auto fields = stat_fields(stat);
  if (fields.size() < 13) return 0;
  return (number(fields[11]) + number(fields[12])) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double named_number(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  return number(trimmed(text.substr(at + name.size(), 32)));
}

}  // namespace

ActivityWatch::ActivityWatch(driver::HostRoot root, std::vector<unsigned> pids)
    : root_(std::move(root)), begin_(std::chrono::steady_clock::now()) {
  for (const unsigned pid : pids) {
    Counters counters = counters_of(pid);
    if (counters.exists) processes_[pid].begin = std::move(counters);
  }
  network_ = network_bytes();
}

ActivityWatch::Counters ActivityWatch::counters_of(unsigned pid) const {
  Counters counters;
  const std::string folder = format("/proc/{}", pid);
  const std::string stat = root_.read_text(folder + "/stat");
  counters.exists = !stat.empty();
  counters.cpu_s = cpu_seconds(stat);
  const std::string io = root_.read_text(folder + "/io");
  counters.disk_bytes = named_number(io, "\nread_bytes:") + named_number(io, "\nwrite_bytes:");
  auto threads = root_.list(folder + "/task");
  threads.resize(std::min(threads.size(), kMostThreads));
  for (const std::string& thread : threads)
    counters.thread_cpu_s[thread] = cpu_seconds(root_.read_text(format("{}/task/{}/stat", folder, thread)));
  return counters;
}

// "  eth0: 1234 1 0 0 0 0 0 0 5678 …" of /proc/net/dev, without the loop-back.
std::map<std::string, std::pair<double, double>> ActivityWatch::network_bytes() const {
  std::map<std::string, std::pair<double, double>> bytes;
  const std::string text = root_.read_text("/proc/net/dev");
  for (const std::string_view line : split_at(text, "\n")) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name(trimmed(line.substr(0, colon)));
    const auto words = words_of(line.substr(colon + 1));
    if (name != "lo" && words.size() >= 9) bytes[name] = {number(words[0]), number(words[8])};
  }
  return bytes;
}

void ActivityWatch::look() {
  ++looks_;
  for (auto& [pid, process] : processes_) {
    bool waits_for_disk = false;
    for (const auto& [thread, unused] : process.begin.thread_cpu_s) {
      const std::string stat = root_.read_text(format("/proc/{}/task/{}/stat", pid, thread));
      const auto fields = stat_fields(stat);
      if (fields.empty()) continue;
      if (fields[0] == "R") ++process.looks_ready[thread];
      waits_for_disk = waits_for_disk || fields[0] == "D";
    }
    if (waits_for_disk) ++process.looks_in_disk_wait;
  }
}

HostActivity ActivityWatch::finish() {
  HostActivity activity;
  const double seconds =
      std::max(1e-3, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  for (const auto& [pid, process] : processes_) {
    const Counters end = counters_of(pid);
    if (!end.exists) continue;
    ProcessActivity& row = activity.processes[pid];
    row.pid = pid;
    row.name = root_.read_text(format("/proc/{}/comm", pid));
    row.cpus = (end.cpu_s - process.begin.cpu_s) / seconds;
    row.disk_mb_per_s = (end.disk_bytes - process.begin.disk_bytes) / 1e6 / seconds;
    row.in_disk_wait = looks_ == 0 ? 0 : static_cast<double>(process.looks_in_disk_wait) / looks_;
    for (const auto& [thread, cpu_s] : end.thread_cpu_s) {
      const auto before = process.begin.thread_cpu_s.find(thread);
      if (before == process.begin.thread_cpu_s.end()) continue;
      row.busiest_thread = std::max(row.busiest_thread, (cpu_s - before->second) / seconds);
    }
    for (const auto& [thread, looks] : process.looks_ready) {
      if (looks_ >= kLeastLooks) row.busiest_thread = std::max(row.busiest_thread, double(looks) / looks_);
    }
  }
  for (const auto& [name, bytes] : network_bytes()) {
    const auto before = network_.find(name);
    if (before == network_.end()) continue;
    const double rate =
        std::max(bytes.first - before->second.first, bytes.second - before->second.second) / 1e6 / seconds;
    if (rate <= activity.network.mb_per_s) continue;
    const double megabits = number(root_.read_text(format("/sys/class/net/{}/speed", name)));
    activity.network = {name, rate, std::max(0.0, megabits / 8)};
  }
  return activity;
}

}  // namespace pagoda::faults
