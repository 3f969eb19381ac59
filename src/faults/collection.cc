#include "faults/collection.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/subprocess.h"
#include "faults/bundle.h"
#include "faults/command_output.h"
#include "faults/kernel_log_reader.h"
#include "faults/redaction.h"
#include "faults/source_files.h"

namespace pagoda::faults {
namespace {

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

struct ToolOutput {
  std::string_view file;
  std::vector<std::string> words;  // the first names the tool
};
constexpr std::string_view kSmi = "nvidia-smi";
const std::array<ToolOutput, 6>& tool_outputs() {
  static const std::array<ToolOutput, 6> kOutputs = {
      ToolOutput{"nvidia-smi.txt", {"nvidia-smi"}},
      ToolOutput{"nvidia-smi-q.txt", {"nvidia-smi", "-q"}},
      ToolOutput{"nvidia-smi-L.txt", {"nvidia-smi", "-L"}},
      ToolOutput{"nvidia-smi-nvlink-s.txt", {"nvidia-smi", "nvlink", "-s"}},
      ToolOutput{"nvidia-smi-topo.txt", {"nvidia-smi", "topo", "-m"}},
      ToolOutput{"lspci.txt", {"lspci", "-nnvvv", "-d", "10de:"}},
  };
  return kOutputs;
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

// Files below `folder` that `pattern` stands for.
void expand(const driver::HostRoot& root, const std::string& folder, std::string_view pattern,
            std::vector<std::string>& paths) {
  const size_t slash = pattern.find('/');
  const std::string_view first = pattern.substr(0, slash);
  const bool is_last = slash == std::string_view::npos;
  const std::vector<std::string> names =
      first == "*" ? root.list(folder) : std::vector<std::string>{std::string(first)};
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (!is_last) {
      expand(root, path, pattern.substr(slash + 1), paths);
    } else if (const auto kind = root.kind(path); kind && kind->type == '-') {
      paths.push_back(path);
    }
  }
}

bool is_of_another_vendor(const driver::HostRoot& root, const std::string& path) {
  if (!path.starts_with("/sys/bus/pci/devices")) return false;
  return root.read_text(path.substr(0, path.rfind('/')) + "/vendor") != "0x10de";
}

void collect_host(const driver::HostRoot& root, Collector& collector, CollectionSummary& summary) {
  for (const std::string_view pattern : kFiles) {
    std::vector<std::string> paths;
    expand(root, "", pattern, paths);
    for (const std::string& path : paths) {
      if (!is_of_another_vendor(root, path)) collector.add("host" + path, root.read_text(path) + "\n");
    }
  }
  const auto log = read_kernel_log(root.folder());
  if (log) {
    collector.add("kernel.log", *log);
  } else {
    summary.gaps.push_back(log.error().message);
  }
}

// "nvidia-smi -q", or where there is none, `pagoda smi -q`.
std::vector<std::string> words_of_tool(const ToolOutput& output, const CollectionRequest& request) {
  if (output.words[0] != kSmi || request.own_program.empty()) return output.words;
  if (!request.only_own_smi && find_program(std::string(kSmi))) return output.words;
  std::vector<std::string> words = request.own_program;
  words.push_back("smi");
  words.insert(words.end(), output.words.begin() + 1, output.words.end());
  return words;
}

void collect_tools(const CollectionRequest& request, Collector& collector, CollectionSummary& summary) {
  for (const ToolOutput& output : tool_outputs()) {
    const auto words = words_of_tool(output, request);
    const auto text = output_of(words, kCommandSeconds, kMostBytesOfCommand);
    if (text) {
      collector.add(std::string(output.file), *text);
    } else {
      summary.gaps.push_back(format("{}: there is no {} here", output.file, words[0]));
    }
  }
}

}  // namespace

Result<CollectionSummary> collect_bundle(const CollectionRequest& request, const driver::HostRoot& root) {
  PAGODA_ASSIGN(const auto bundle, Bundle::create(request.path));
  CollectionSummary summary;
  Collector collector(*bundle, summary);
  PAGODA_TRY(collector.add("report.json", request.report));
  collect_host(root, collector, summary);
  if (request.live) collect_tools(request, collector, summary);
  for (const std::string& log : request.logs) PAGODA_TRY(read_sources(log, collector));
  PAGODA_TRY(collector.status());
  PAGODA_TRY(bundle->close());
  summary.files = bundle->files();
  summary.removed = collector.removed();
  return summary;
}

}  // namespace pagoda::faults
