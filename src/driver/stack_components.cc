#include "driver/stack_components.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/format.h"
#include "driver/driver_libraries.h"
#include "driver/installed_packages.h"
#include "driver/version_number.h"

namespace pagoda::driver {
namespace {

struct LibraryName {
  std::string_view file, name;  // "libcudnn", as in libcudnn.so.9.1.0
  bool version_is_cuda;         // its version is CUDA's own
};
constexpr std::array kLibraries = {
    LibraryName{"libcudart", "CUDA runtime", true}, LibraryName{"libcublas", "cuBLAS", true},
    LibraryName{"libcudnn", "cuDNN", false},        LibraryName{"libnccl", "NCCL", false},
    LibraryName{"libnvinfer", "TensorRT", false},
};

struct PackageName {
  std::string_view package, name;
  Floor floor;
};
constexpr std::array kPackages = {
    PackageName{"docker-ce", "Docker", Floor::kContainerRuntime},
    PackageName{"docker.io", "Docker", Floor::kContainerRuntime},
    PackageName{"containerd.io", "containerd", Floor::kContainerRuntime},
    PackageName{"containerd", "containerd", Floor::kContainerRuntime},
    PackageName{"cri-o", "CRI-O", Floor::kContainerRuntime},
    PackageName{"podman", "Podman", Floor::kContainerRuntime},
    PackageName{"runc", "runc", Floor::kContainerRuntime},
    PackageName{"crun", "crun", Floor::kContainerRuntime},
    PackageName{"nvidia-container-toolkit", "NVIDIA Container Toolkit", Floor::kContainerRuntime},
    PackageName{"datacenter-gpu-manager", "DCGM", Floor::kMonitoring},
    PackageName{"datacenter-gpu-manager-4-core", "DCGM", Floor::kMonitoring},
    PackageName{"datacenter-gpu-manager-exporter", "dcgm-exporter", Floor::kMonitoring},
    PackageName{"prometheus", "Prometheus", Floor::kMonitoring},
    PackageName{"prometheus-node-exporter", "node exporter", Floor::kMonitoring},
    PackageName{"grafana", "Grafana", Floor::kMonitoring},
};

struct WheelName {
  std::string_view wheel, name;  // as its dist-info folder begins
  Floor floor;
};
constexpr std::array kWheels = {
    WheelName{"torch", "PyTorch", Floor::kFramework},
    WheelName{"vllm", "vLLM", Floor::kFramework},
    WheelName{"sglang", "SGLang", Floor::kFramework},
    WheelName{"tensorflow", "TensorFlow", Floor::kFramework},
    WheelName{"jax", "JAX", Floor::kFramework},
    WheelName{"onnxruntime_gpu", "ONNX Runtime", Floor::kFramework},
    WheelName{"tensorrt", "TensorRT", Floor::kLibrary},
    WheelName{"tensorrt_llm", "TensorRT-LLM", Floor::kFramework},
    WheelName{"nvidia_cudnn_cu11", "cuDNN", Floor::kLibrary},
    WheelName{"nvidia_cudnn_cu12", "cuDNN", Floor::kLibrary},
    WheelName{"nvidia_cudnn_cu13", "cuDNN", Floor::kLibrary},
    WheelName{"nvidia_nccl_cu12", "NCCL", Floor::kLibrary},
    WheelName{"nvidia_nccl_cu13", "NCCL", Floor::kLibrary},
    WheelName{"nvidia_cublas_cu12", "cuBLAS", Floor::kLibrary},
    WheelName{"nvidia_cublas", "cuBLAS", Floor::kLibrary},
};

// "cuda": {"version": "12.4.1"} of a toolkit's version.json; the folder's own name else.
std::string toolkit_version(const HostRoot& root, const std::string& folder, const std::string& name) {
  const auto value = nlohmann::json::parse(root.read(folder + "/version.json").value_or(""), nullptr, false);
  if (value.is_object()) {
    const std::string version = value.value(nlohmann::json::json_pointer("/cuda/version"), std::string());
    if (!version.empty()) return version;
  }
  return name.starts_with("cuda-") ? name.substr(5) : "";
}

std::string first_two(const std::string& version) {
  const auto parsed = VersionNumber::parse(version);
  return parsed ? format("{}.{}", parsed->major(), parsed->part(1)) : "";
}

void add_toolkits(const HostRoot& root, std::vector<StackComponent>& found) {
  for (const auto& name : root.list("/usr/local")) {
    if (name != "cuda" && !name.starts_with("cuda-")) continue;
    const std::string folder = format("/usr/local/{}", name);
    if (root.link_text(folder)) continue;  // /usr/local/cuda -> cuda-12.4: one toolkit, once
    const std::string version = toolkit_version(root, folder, name);
    if (!version.empty())
      found.push_back({Floor::kToolkit, "CUDA toolkit", version, first_two(version), folder});
  }
}

void add_libraries_of(const HostRoot& root, const std::string& folder, std::vector<StackComponent>& found) {
  for (const auto& file : root.list(folder)) {
    const size_t so = file.find(".so.");
    if (so == std::string::npos) continue;
    const auto row = std::find_if(kLibraries.begin(), kLibraries.end(),
                                  [&](const auto& r) { return file.substr(0, so) == r.file; });
    const auto version = VersionNumber::parse(file.substr(so + 4));
    // The full name alone: libX.so.9 is a link to it.
    if (row == kLibraries.end() || !version || version->text().find('.') == std::string::npos) continue;
    found.push_back({Floor::kLibrary, std::string(row->name), version->text(),
                     row->version_is_cuda ? first_two(version->text()) : "", format("{}/{}", folder, file)});
  }
}

void add_libraries(const HostRoot& root, std::vector<StackComponent>& found) {
  auto folders = library_folders(root);
  for (const auto& name : root.list("/usr/local")) {
    if (name.starts_with("cuda-")) folders.push_back(format("/usr/local/{}/targets/x86_64-linux/lib", name));
  }
  for (const auto& folder : folders) add_libraries_of(root, folder, found);
}

void add_packages(const HostRoot& root, std::vector<StackComponent>& found) {
  for (const auto& package : installed_packages(root)) {
    for (const auto& row : kPackages) {
      if (row.package != package.name) continue;
      const auto version = upstream_version(package.version);
      found.push_back({row.floor, std::string(row.name), version ? version->text() : package.version, "",
                       format("package {}", package.name)});
    }
  }
}

std::vector<std::string> python_folders(const HostRoot& root) {
  std::vector<std::string> folders = {"/usr/lib/python3/dist-packages"};
  std::vector<std::string> prefixes = {"/usr/local", "/usr"};
  for (const auto& name : root.list("/opt")) prefixes.push_back(format("/opt/{}", name));
  for (const auto& prefix : prefixes) {
    for (const auto& name : root.list(prefix + "/lib")) {
      if (!name.starts_with("python3.")) continue;
      for (const auto* kind : {"site-packages", "dist-packages"})
        folders.push_back(format("{}/lib/{}/{}", prefix, name, kind));
    }
  }
  return folders;
}

// "cuda: Optional[str] = '12.4'" of torch/version.py.
std::string torch_cuda(const HostRoot& root, const std::string& folder) {
  const std::string text = "\n" + root.read(folder + "/torch/version.py").value_or("");
  const size_t at = text.find("\ncuda");
  if (at == std::string::npos) return "";
  const size_t open = text.find('\'', at), end = text.find('\n', at + 1);
  if (open == std::string::npos || open > end) return "";
  return text.substr(open + 1, text.find('\'', open + 1) - open - 1);
}

void add_wheels(const HostRoot& root, const std::string& folder, std::vector<StackComponent>& found) {
  constexpr std::string_view kEnding = ".dist-info";
  for (const auto& name : root.list(folder)) {
    const size_t dash = name.find('-');
    if (!name.ends_with(kEnding) || dash == std::string::npos) continue;
    const auto row = std::find_if(kWheels.begin(), kWheels.end(),
                                  [&](const auto& r) { return name.substr(0, dash) == r.wheel; });
    if (row == kWheels.end()) continue;
    const std::string version = name.substr(dash + 1, name.size() - dash - 1 - kEnding.size());
    std::string cuda;
    if (row->wheel == "torch") cuda = torch_cuda(root, folder);
    if (const size_t cu = row->wheel.find("_cu1"); cu != std::string_view::npos)
      cuda = row->wheel.substr(cu + 3);
    found.push_back({row->floor, std::string(row->name), version, cuda, folder});
  }
}

}  // namespace

std::vector<StackComponent> find_stack_components(const HostRoot& root) {
  std::vector<StackComponent> found;
  add_toolkits(root, found);
  add_libraries(root, found);
  add_packages(root, found);
  for (const auto& folder : python_folders(root)) add_wheels(root, folder, found);
  const auto key = [](const auto& c) { return std::tie(c.floor, c.name, c.place); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return found;
}

bool is_container(const HostRoot& root) {
  return root.exists("/.dockerenv") || root.exists("/run/.containerenv") ||
         root.exists("/var/run/secrets/kubernetes.io/serviceaccount");
}

}  // namespace pagoda::driver
