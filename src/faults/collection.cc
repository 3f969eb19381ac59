#include "faults/collection.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "faults/bundle.h"
#include "faults/command_output.h"
#include "faults/host_gpus.h"
#include "faults/kernel_log_reader.h"
#include "faults/redaction.h"
#include "faults/source_files.h"

namespace pagoda::faults {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytesOfLog = size_t{64} << 20;
constexpr size_t kMostBytesOfCommand = size_t{8} << 20;
constexpr double kCommandSeconds = 60;  // an ECC read on a dead GPU may block for 45

// Below the root; a '*' stands for every name in a folder.
constexpr std::array<std::string_view, 19> kFiles = {
    "etc/os-release",
    "proc/version",
    "proc/cmdline",
    "proc/modules",
    "proc/meminfo",
    "proc/mounts",
    "proc/driver/nvidia/version",
    "proc/driver/nvidia/params",
    "proc/driver/nvidia/gpus/*/information",
    "sys/bus/pci/devices/*/vendor",
    "sys/bus/pci/devices/*/device",
    "sys/bus/pci/devices/*/current_link_speed",
    "sys/bus/pci/devices/*/current_link_width",
    "sys/bus/pci/devices/*/max_link_speed",
    "sys/bus/pci/devices/*/max_link_width",
    "etc/docker/daemon.json",
    "etc/containerd/config.toml",
    "etc/nvidia-container-runtime/config.toml",
    "etc/cdi/*",
};

struct Command {
  std::string_view name;
  std::vector<std::string> words;
};
const std::array<Command, 6>& commands() {
  static const std::array<Command, 6> kCommands = {
      Command{"nvidia-smi.txt", {"nvidia-smi"}},
      Command{"nvidia-smi-q.txt", {"nvidia-smi", "-q"}},
      Command{"nvidia-smi-L.txt", {"nvidia-smi", "-L"}},
      Command{"nvidia-smi-nvlink-s.txt", {"nvidia-smi", "nvlink", "-s"}},
      Command{"nvidia-smi-topo.txt", {"nvidia-smi", "topo", "-m"}},
      Command{"lspci.txt", {"lspci", "-nnvvv", "-d", "10de:"}},
  };
  return kCommands;
}

class Collector : public FileReceiver {
 public:
  Collector(Bundle& bundle, CollectionSummary& summary) : bundle_(bundle), summary_(summary) {}

  Status add(const std::string& name, std::string_view text) {
    const Status added = bundle_.add(name, redaction_.clean(text));
    if (!added && status_) status_ = added;
    return added;
  }
  Status status() const { return status_; }
  int64_t removed() const { return redaction_.removed(); }

  // Logs that the caller names: their ends, where they are long.
  void begin(const std::string& name) override {
    name_ = name;
    text_.clear();
    cut_ = false;
  }
  bool take(std::string_view bytes) override {
    text_ += bytes;
    if (text_.size() > 2 * kMostBytesOfLog) {
      text_.erase(0, text_.size() - kMostBytesOfLog);
      cut_ = true;
    }
    return true;
  }
  void end(const std::string& fault) override {
    if (text_.size() > kMostBytesOfLog) {
      text_.erase(0, text_.size() - kMostBytesOfLog);
      cut_ = true;
    }
    if (cut_) summary_.gaps.push_back(format("{}: only its last {} MiB", name_, kMostBytesOfLog >> 20));
    if (!fault.empty()) summary_.gaps.push_back(format("{}: {}", name_, fault));
    std::replace(name_.begin(), name_.end(), ':', '/');  // a file inside an archive
    add("logs/" + name_, text_);
  }

 private:
  Bundle& bundle_;
  CollectionSummary& summary_;
  Redaction redaction_;
  Status status_;
  std::string name_, text_;
  bool cut_ = false;
};

// Paths below `folder` that `pattern` stands for.
void expand(const fs::path& folder, std::string_view pattern, std::vector<fs::path>& paths) {
  const size_t slash = pattern.find('/');
  const std::string_view first = pattern.substr(0, slash);
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  std::error_code error;
  if (first != "*") {
    const fs::path path = folder / first;
    if (!rest.empty()) return expand(path, rest, paths);
    if (fs::is_regular_file(path, error)) paths.push_back(path);
    return;
  }
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (!rest.empty()) {
      expand(entry, rest, paths);
    } else if (fs::is_regular_file(entry, error)) {
      paths.push_back(entry);
    }
  }
}

bool is_of_another_vendor(const fs::path& path) {
  if (path.string().find("sys/bus/pci/devices") == std::string::npos) return false;
  return read_small_file(path.parent_path() / "vendor") != "0x10de";
}

void collect_host(const fs::path& root, Collector& collector, CollectionSummary& summary) {
  for (const std::string_view pattern : kFiles) {
    std::vector<fs::path> paths;
    expand(root, pattern, paths);
    for (const fs::path& path : paths) {
      if (!is_of_another_vendor(path))
        collector.add("host/" + path.lexically_relative(root).string(), read_small_file(path) + "\n");
    }
  }
  const auto log = read_kernel_log(root);
  if (log) {
    collector.add("kernel.log", *log);
  } else {
    summary.gaps.push_back(log.error().message);
  }
}

void collect_commands(Collector& collector, CollectionSummary& summary) {
  for (const Command& command : commands()) {
    const auto output = output_of(command.words, kCommandSeconds, kMostBytesOfCommand);
    if (output) {
      collector.add(std::string(command.name), *output);
    } else {
      summary.gaps.push_back(format("{}: there is no {} here", command.name, command.words[0]));
    }
  }
}

}  // namespace

Result<CollectionSummary> collect_bundle(const std::string& path, const fs::path& root,
                                         const std::vector<std::string>& logs, const std::string& report) {
  PAGODA_ASSIGN(const auto bundle, Bundle::create(path));
  CollectionSummary summary;
  Collector collector(*bundle, summary);
  PAGODA_TRY(collector.add("report.json", report));
  collect_host(root, collector, summary);
  if (root == "/") collect_commands(collector, summary);
  for (const std::string& log : logs) PAGODA_TRY(read_sources(log, collector));
  PAGODA_TRY(collector.status());
  PAGODA_TRY(bundle->close());
  summary.files = bundle->files();
  summary.removed = collector.removed();
  return summary;
}

}  // namespace pagoda::faults
