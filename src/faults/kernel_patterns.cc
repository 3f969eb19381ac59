// The kernel's and the driver's sentences, and those of nvidia-smi.
#include "faults/log_pattern.h"

#define ADDRESS "[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\\.[0-7])?"

namespace pagoda::faults {
namespace {

constexpr LogPattern kRows[] = {
    {"NVRM: Xid",
     R"(NVRM: Xid \((?:PCI:)?(?<gpu>[0-9a-f:.]+)[^)]*\).*?: (?<xid>\d{1,9})(?:,\s*(?<rest>.*))?)",
     "xid-other", Reader::kXid},
    {"SXid", R"(SXid \((?:PCI:)?(?<switch>[0-9a-f:.]+)[^)]*\).*?: (?<sxid>\d{1,9}),\s*(?<rest>.*))",
     "sxid-non-fatal", Reader::kSxid},
    {"fallen off the bus", R"((?<gpu>)" ADDRESS R"().*GPU has fallen off the bus)", "xid-79"},
    {"fallen off the bus", "", "xid-79"},
    {"insufficient power on", R"((?:.*?(?<gpu>)" ADDRESS R"())?.*insufficient power on the PCIe slot)",
     "slot-power"},
    {"not have the necessary power connectors", R"((?<gpu>)" ADDRESS ")", "xid-54"},
    // AER. Only ports and NVIDIA's own devices: a disk's errors are not a GPU's.
    {"SDES", R"((?:pcieport|nvidia\w*) (?<port>)" ADDRESS R"(): .*\[ ?5\] SDES)", "aer-surprise-down"},
    {"Surprise Down", R"((?:pcieport|nvidia\w*) (?<port>)" ADDRESS ")", "aer-surprise-down"},
    {"AER: ",
     R"((?:pcieport|nvidia\w*) .*AER:.*Uncorrected.* (?:received|from):? (?<port>)" ADDRESS
     R"()|AER:.*Uncorrected.*(?<detail>fatal error))",
     "aer-uncorrected"},
    {"AER: ",
     R"((?<reporter>pcieport|nvidia\w*) .*AER:.*Corrected.* (?:received|from):? (?<port>)" ADDRESS ")",
     "aer-corrected-many"},
    {"PCIe Bus Error",
     R"((?:pcieport|nvidia\w*) (?<port>)" ADDRESS
     R"(): (?:AER: )?PCIe Bus Error: severity=Uncorrect\w* ?(?<detail>\([\w -]+\))?)",
     "aer-uncorrected"},
    {"PCIe Bus Error",
     R"((?<reporter>pcieport|nvidia\w*) (?<port>)" ADDRESS R"(): (?:AER: )?PCIe Bus Error: severity=Correct)",
     "aer-corrected-many"},
    {"pciehp: Slot",
     R"(pcieport (?<port>)" ADDRESS R"().*Slot\((?<slot>[^)]+)\): (?:Link Down|Card not present))",
     "link-down"},
    {"config space inaccessible", R"(nvidia\w* (?<gpu>)" ADDRESS R"(): .*config space inaccessible)",
     "config-space-lost"},
    {"DMAR: ", R"(DMAR: .*Request device \[(?<gpu>[0-9a-f:.]+)\].*fault)", "iommu-fault"},
    {"AMD-Vi: Event logged", R"(nvidia\w* (?<gpu>)" ADDRESS R"(): AMD-Vi: Event logged \[IO_PAGE_FAULT)",
     "iommu-fault"},
    // The driver.
    {"RmInitAdapter failed", R"((?<gpu>)" ADDRESS R"().*RmInitAdapter failed!?(?: \((?<code>[^)]*)\))?)",
     "rm-init-failed"},
    {"rm_init_adapter failed", R"((?:.*?(?<gpu>)" ADDRESS R"())?.*rm_init_adapter failed)", "rm-init-failed"},
    {"API mismatch", R"(API mismatch: .*?version (?<client>[\d.]+\d).*?version (?<module>[\d.]+\d))",
     "driver-mismatch", Reader::kPlain, true},
    {"API mismatch", "NVRM", "nvml-mismatch"},
    {"is already bound to", R"((?<gpu_full>)" ADDRESS R"() is already bound to nouveau)", "nouveau"},
    {"is already bound to", R"((?<gpu_full>)" ADDRESS R"() is already bound to (?<owner>[\w-]+))",
     "other-driver"},
    {"nouveau ", R"(nouveau (?<gpu_full>)" ADDRESS R"(): NVIDIA (?<chip_code>\w+))", "nouveau"},
    {"probe routine was not called", "", "probe-not-called"},
    {"None of the NVIDIA devices were initialized", "", "none-initialised"},
    {"(PCI ID: 10de:",
     R"((?<gpu>)" ADDRESS R"() \(PCI ID: 10de:(?<device>[0-9a-f]{4})\).*?not supported by (?:the )?open)",
     "open-module-unsupported", Reader::kChip, true},
    {"(PCI ID: 10de:",
     R"((?<gpu>)" ADDRESS
     R"() \(PCI ID: 10de:(?<device>[0-9a-f]{4})\).*?not supported by.*?(?<version>\d{3}[\d.]*\d))",
     "legacy-gpu", Reader::kChip, true},
    {"Legacy drivers",
     R"(NVIDIA (?<chip>.*?)(?: GPU)? installed in this system is\s+supported through the NVIDIA (?<branch>\d+)\.)",
     "legacy-gpu", Reader::kPlain, true},
    {"GPU installed in this system is",
     R"(NVIDIA (?<chip>.*?)(?: GPU)? installed in this system is\s+supported through the NVIDIA (?<branch>\d+)\.)",
     "legacy-gpu", Reader::kPlain, true},
    {"This PCI I/O region assigned to your NVIDIA device is invalid",
     R"(BAR(?<bar>\d) is \w+ @ .*?(?<gpu>)" ADDRESS ")", "bar-invalid", Reader::kPlain, true},
    {"key was rejected by service", "nvidia", "module-rejected"},
    {"unsigned module is rejected", "nvidia", "module-rejected"},
    {"Required key not available", "nvidia", "module-rejected"},
    {"version magic", R"(nvidia\w*: version magic (?<detail>.*))", "module-version-magic"},
    {"disagrees about version of symbol", R"(nvidia\w*: disagrees about version of symbol (?<detail>\w+))",
     "module-version-magic"},
    {"Module nvidia not found", R"(Module nvidia not found in directory \S*/(?<kernel>[\w.+-]+))",
     "module-not-found"},
    {"Unknown symbol in module", "insert 'nvidia", "module-version-magic"},
    {"fabric manager",
     R"(fabric ?manager (?:NVIDIA )?version (?<client>[\d.]+\d).*driver version (?<module>[\d.]+\d))",
     "fabric-manager-version"},
    // nvidia-smi and NVML.
    {"couldn't communicate with the NVIDIA driver", "", "nvml-not-running"},
    {"Driver/library version mismatch", "nvidia-container|container", "container-driver-mismatch"},
    {"Driver/library version mismatch", "", "nvml-mismatch"},
    {"NVML library version: ", R"(NVML library version: (?<client>[\d.]+\d))", "nvml-mismatch"},
    {"Failed to initialize NVML: Unknown Error", "", "nvml-unknown-error"},
    {"Failed to initialize NVML: Driver Not Loaded", "", "nvml-not-running"},
    {"Failed to initialize NVML: Insufficient Permissions", "", "nvml-permission"},
    {"Failed to initialize NVML: GPU access blocked", "", "nvml-permission"},
    {"No devices were found", "", "no-devices"},
    {"Unable to determine the device handle", R"(GPU ?(?<gpu>)" ADDRESS R"(): (?<detail>.*))",
     "device-handle"},
    {"GPU is lost", R"((?:.*?(?<gpu>)" ADDRESS R"())?.*GPU is lost)", "gpu-lost"},
    {"infoROM is corrupted", R"(gpu (?<gpu>)" ADDRESS ")", "inforom-corrupt"},
    {"nvidia-smi",
     R"(nvidia-smi: (?:command )?not found|"nvidia-smi": executable file not found|nvidia-smi: No such file)",
     "smi-missing"},
    // The kernel's memory.
    {"Killed process", R"(Memory cgroup out of memory: Killed process (?<pid>\d+) \((?<process>[^)]*)\))",
     "cgroup-out-of-memory"},
    {"Killed process", R"(Out of memory: Killed process (?<pid>\d+) \((?<process>[^)]*)\))",
     "host-out-of-memory"},
    {"libnccl", R"((?<process>[\w./-]+)\[(?<pid>\d+)\]: segfault at .* in (?<library>libnccl\.so[\w.]*))",
     "nccl-crash"},
};

}  // namespace

std::span<const LogPattern> kernel_patterns() {
  return kRows;
}

}  // namespace pagoda::faults
