// The driver's own troubles: which module is loaded, whether user space fits it, whether CUDA can begin.
#include "faults/fault_catalogue.h"

namespace pagoda::faults {
namespace {

using enum Kind;
using enum Step;
using enum Severity;
using enum Confidence;
using enum Drain;

constexpr FaultRow kRows[] = {
    {"driver-mismatch", kDriver, kPresence, kFault, kHigh, kNo, "driver and library differ",
     "user-space driver {client} against the loaded kernel module {module}: an upgrade without a reboot",
     "reload-modules reboot-node pin-driver", "NVML says so too (driver/library version mismatch)", ""},
    {"nouveau", kDriver, kPresence, kFault, kHigh, kNo, "nouveau owns the GPU",
     "nouveau owns {gpu_full}: NVIDIA's driver cannot take it",
     "blacklist-nouveau rebuild-initramfs reboot-node", "", "gpu"},
    {"other-driver", kDriver, kPresence, kFault, kMedium, kNo, "another driver owns the GPU",
     "another driver ({owner}) owns {gpu_full}: NVIDIA's driver cannot take it",
     "unbind-other-driver reboot-node", "", "gpu"},
    {"probe-not-called", kDriverSymptom, kPresence, kFault, kMedium, kNo, "another driver owns the GPU",
     "NVIDIA's driver was not offered the GPU: another driver (nouveau, vfio-pci, …) owns it",
     "look-at-owner blacklist-nouveau rebuild-initramfs reboot-node", "", ""},
    {"open-module-unsupported", kDriver, kPresence, kFault, kHigh, kNo, "GPU too old for the open module",
     "{chip}[ at {gpu}] has no GPU System Processor (GSP): the open kernel module cannot drive it",
     "install-proprietary-module", "", "gpu"},
    {"legacy-gpu", kDriver, kPresence, kFault, kHigh, kNo, "GPU too old for this driver",
     "{chip}[ at {gpu}] is not supported by driver {version}[; its last branch is {branch}]",
     "install-legacy-driver", "", "gpu"},
    {"new-gpu", kDriver, kPresence, kFault, kMedium, kNo, "driver does not support the GPU",
     "{chip}[ at {gpu}] is not supported by the loaded driver[ {version}]: the driver is too old for it, or "
     "it needs the "
     "open module",
     "install-newer-driver", "", "gpu"},
    {"module-rejected", kDriver, kPresence, kFault, kHigh, kNo, "kernel module refused (Secure Boot)",
     "the kernel refuses the nvidia module: it is not signed by a key that Secure Boot trusts",
     "enrol-signing-key disable-secure-boot", "", ""},
    {"module-version-magic", kDriver, kPresence, kFault, kHigh, kNo, "module built for another kernel",
     "the nvidia module was built for another kernel[ ({detail})]", "rebuild-module reboot-node", "", ""},
    {"module-not-found", kDriver, kPresence, kFault, kHigh, kNo, "no nvidia module for this kernel",
     "there is no nvidia module for the running kernel[ {kernel}]: a new kernel, and DKMS did not build it",
     "rebuild-module", "", ""},
    {"module-not-loaded", kDriver, kPresence, kFault, kHigh, kNo, "driver not loaded",
     "{count} NVIDIA GPU(s) on the bus ({gpu_list}), and no NVIDIA kernel module is loaded",
     "load-module install-driver", "", ""},
    {"device-files-missing", kDriverSymptom, kPresence, kFault, kHigh, kNo, "device files missing",
     "the driver is loaded and its device files (/dev/nvidiactl, /dev/nvidia0, …) are not there: in a "
     "container it was "
     "given no GPU, on the host nobody made them",
     "make-device-files give-container-gpus", "the device files are missing", ""},
    {"fabric-manager-stopped", kFabric, kPresence, kFault, kHigh, kNo, "fabric manager is not running",
     "{count} NVSwitches are on the bus and fabric manager is not running: CUDA cannot start (802)",
     "start-fabric-manager match-fabric-manager", "fabric manager is not running", ""},
    {"none-initialised", kDriverSymptom, kPresence, kFault, kMedium, kNo, "no GPU initialised",
     "the driver initialised none of the GPUs", "find-kernel-log reboot-node", "", ""},
    {"rm-init-failed", kDriverSymptom, kPresence, kFault, kMedium, kYes, "adapter failed to initialise",
     "GPU {gpu} failed to initialise (RmInitAdapter[ {code}][, {times}])",
     "drain-node update-firmware reboot-node check-slot-power-heat board-if-again",
     "it cannot be initialised again (RmInitAdapter)"},
    {"bar-invalid", kDriver, kPresence, kFault, kHigh, kNo, "no address space for the GPU",
     "the firmware gave GPU {gpu} no valid memory region (BAR{bar})", "enable-above-4g", "", ""},
    {"iommu-fault", kPcie, kPresence, kWarning, kLow, kNo, "IOMMU fault of a GPU",
     "the IOMMU refused accesses of GPU {gpu}[ ({times})]", "look-at-iommu",
     "the IOMMU refused its accesses"},
    {"nvml-not-running", kDriverSymptom, kPresence, kFault, kMedium, kNo, "driver does not answer",
     "nvidia-smi cannot reach the NVIDIA driver: the module is not loaded or failed to start",
     "find-kernel-log load-module install-driver", "", ""},
    {"nvml-mismatch", kDriver, kPresence, kFault, kHigh, kNo, "driver and library differ",
     "the user-space driver[ ({client})] differs from the loaded kernel module: an upgrade without a reboot",
     "reload-modules reboot-node pin-driver", "NVML says so too (driver/library version mismatch)", ""},
    {"nvml-unknown-error", kContainer, kPresence, kFault, kMedium, kNo, "container lost its GPUs",
     "NVML fails with \"Unknown Error\": typical of a container whose cgroup lost the devices (systemd "
     "daemon-reload), "
     "else of a GPU that does not answer",
     "restart-container keep-container-devices find-kernel-log", "NVML fails with \"Unknown Error\"", ""},
    {"driver-hangs", kDriverSymptom, kPresence, kFault, kHigh, kYes, "driver hangs",
     "NVML does not come back from its initialisation: the driver hangs, as it does on a GPU that died",
     "drain-node find-kernel-log reboot-node check-slot-power-heat", "NVML hangs", ""},
    {"nvml-permission", kSetup, kPresence, kFault, kMedium, kNo, "no permission for the device files",
     "this user may not open /dev/nvidia*", "device-permissions", "", ""},
    {"no-devices", kDriverSymptom, kPresence, kFault, kMedium, kNo, "no GPU found",
     "the driver is loaded and has no GPU", "find-gpu-on-bus find-kernel-log", "nvidia-smi finds no device",
     ""},
    {"device-handle", kOffBus, kPresence, kFault, kHigh, kYes, "GPU lost",
     "GPU {gpu} does not answer (NVML cannot get its handle[: {detail}])",
     "drain-node find-kernel-log reboot-node check-slot-power-heat", "NVML cannot reach it"},
    {"gpu-lost", kOffBus, kPresence, kFault, kHigh, kYes, "GPU lost",
     "GPU[ {gpu}] is lost: the driver cannot reach it",
     "drain-node find-kernel-log reboot-node check-slot-power-heat", "NVML reports it lost"},
    {"smi-missing", kSetup, kPresence, kFault, kHigh, kNo, "nvidia-smi is not there",
     "nvidia-smi is not installed here: the driver's tools are missing, or the container was given no GPU",
     "install-driver give-container-gpus", "", ""},
    {"libcuda-missing", kSetup, kLogs, kFault, kHigh, kNo, "driver library missing",
     "{library} is missing: the driver is not installed here, or the container was given no GPU",
     "install-driver give-container-gpus", "", "library"},
    {"cuda-library-missing", kSetup, kLogs, kFault, kHigh, kNo, "CUDA library missing",
     "{library} is missing from this environment: another CUDA version is installed, or none",
     "match-cuda-libraries", "", "library"},
    {"fabric-manager", kFabric, kPresence, kFault, kMedium, kNo, "NVSwitch fabric not initialised",
     "the NVSwitch fabric is not initialised (CUDA error 802[ on {count_gpus} GPUs]): fabric manager is not "
     "running, or its "
     "version differs from the driver's",
     "start-fabric-manager match-fabric-manager", "CUDA cannot start (802)", ""},
    {"fabric-manager-version", kFabric, kPresence, kFault, kHigh, kNo, "fabric manager of another version",
     "fabric manager {client} does not fit driver {module}", "match-fabric-manager start-fabric-manager", "",
     ""},
    {"cuda-driver-old", kDriver, kLogs, kFault, kHigh, kNo, "driver too old for CUDA",
     "the driver[ (CUDA {found})] is too old for this program's CUDA[ {cuda}][: at least driver {least}]",
     "install-newer-driver older-image", "", ""},
    {"cuda-ptx-toolchain", kDriver, kLogs, kFault, kHigh, kNo, "PTX newer than the driver",
     "the program's PTX was made by a newer CUDA than the driver knows", "install-newer-driver older-image",
     "", ""},
    {"cuda-no-kernel-image", kSetup, kLogs, kFault, kHigh, kNo, "program not built for this GPU",
     "the program holds no code for this GPU[ ({capability})][, which needs CUDA {least} or later]",
     "matching-build", "", ""},
    {"cuda-no-device", kCudaStart, kLogs, kFault, kMedium, kNo, "CUDA sees no GPU",
     "CUDA sees no GPU: no driver, no device in the container, or CUDA_VISIBLE_DEVICES hides it",
     "find-gpu-on-bus give-container-gpus visible-devices", "CUDA sees no GPU", ""},
    {"cuda-busy", kCudaStart, kLogs, kFault, kMedium, kNo, "GPU busy or unavailable",
     "CUDA cannot use a GPU that is there (46): exclusive compute mode, MIG without instances, or a fault",
     "compute-mode find-holders find-kernel-log", "CUDA finds the GPU unavailable", ""},
    {"cuda-mismatch", kCudaStart, kLogs, kFault, kHigh, kNo, "CUDA and driver do not go together",
     "the CUDA driver library does not fit the kernel module (803)", "reload-modules reboot-node pin-driver",
     "CUDA refuses (803)", ""},
    {"cuda-forward-compatibility", kDriver, kLogs, kFault, kHigh, kNo, "forward compatibility not possible",
     "the image brings a newer libcuda (forward compatibility), which this GPU does not allow (804): only "
     "data centre GPUs do",
     "older-image remove-compat install-newer-driver", "", ""},
    {"cuda-device-ordinal", kSetup, kLogs, kFault, kHigh, kNo, "no GPU of that number",
     "the program asks for a GPU number that is not there", "visible-devices fewer-ranks", "", ""},
    {"cuda-illegal-access", kCudaFault, kLogs, kFault, kMedium, kNo, "illegal memory access",
     "a kernel accessed an invalid address (CUDA error 700): the program's fault, unless other programs "
     "fault too",
     "blocking-launch find-kernel-log", "CUDA reports an illegal access (700)", ""},
    {"cuda-launch-failure", kCudaFault, kLogs, kFault, kMedium, kNo, "kernel failed",
     "a kernel failed while running (CUDA error {code})", "blocking-launch find-kernel-log",
     "CUDA reports a failed kernel", "code"},
    {"cuda-device-assert", kCudaFault, kLogs, kFault, kHigh, kNo, "assertion in a kernel",
     "a kernel's own assertion failed (CUDA error 710): usually an index out of range (token id, label)",
     "blocking-launch", "CUDA reports an assertion (710)", ""},
    {"cuda-ecc", kGpuMemory, kLogs, kFault, kHigh, kYes, "uncorrectable ECC error in a program",
     "CUDA met an uncorrectable memory error", "drain-node find-kernel-log reset-gpu replace-if-again",
     "CUDA reports an uncorrectable memory error", ""},
    {"cuda-nvlink", kNvlink, kLogs, kFault, kHigh, kYes, "NVLink error in a program",
     "CUDA met an uncorrectable NVLink error", "drain-node find-kernel-log check-nvlink reset-gpu",
     "CUDA reports an NVLink error", ""},
    {"cuda-unknown", kCudaFault, kLogs, kFault, kLow, kNo, "unknown CUDA error",
     "CUDA fails with an unknown error (999): the driver's state is bad, or a device file is missing",
     "find-kernel-log reload-uvm reboot-node", "CUDA reports an unknown error", ""},
};

}  // namespace

std::span<const FaultRow> driver_rows() {
  return kRows;
}

}  // namespace pagoda::faults
