// Containers, ports and folders: what beginners meet on the way to the first answer.
#include "faults/fault_catalogue.h"

namespace pagoda::faults {
namespace {

using enum Kind;
using enum Step;
using enum Severity;
using enum Confidence;
using enum Drain;

constexpr FaultRow kRows[] = {
    {"docker-no-gpu-driver", kContainer, kLogs, kFault, kHigh, kNo, "Docker knows no GPU driver",
     "Docker has no device driver for GPUs: NVIDIA's container toolkit is not installed, or Docker was not "
     "restarted "
     "since",
     "install-toolkit configure-runtime restart-docker", "", ""},
    {"docker-unknown-runtime", kContainer, kLogs, kFault, kHigh, kNo, "runtime nvidia unknown",
     "Docker does not know the runtime nvidia: it is not in daemon.json, or Docker was not restarted since",
     "configure-runtime restart-docker", "", ""},
    {"container-driver-not-loaded", kContainer, kLogs, kFault, kHigh, kNo, "driver not loaded on the host",
     "the container cannot start because the host's driver is not loaded",
     "load-module find-kernel-log install-driver", "containers cannot start (driver not loaded)", ""},
    {"container-driver-mismatch", kContainer, kLogs, kFault, kHigh, kNo, "host driver and library differ",
     "the container cannot start: the host's user-space driver differs from its loaded module",
     "reload-modules reboot-node", "containers cannot start", ""},
    {"container-library-missing", kContainer, kLogs, kFault, kHigh, kNo,
     "driver library not found on the host",
     "the container toolkit does not find {library} on the host: the driver is not installed, or installed "
     "elsewhere",
     "install-driver refresh-ldconfig", "", ""},
    {"container-unknown-device", kContainer, kLogs, kFault, kHigh, kNo, "no such GPU",
     "the container asks for a GPU that is not there[ ({device})]", "list-gpus", "", ""},
    {"container-cli-error", kContainer, kLogs, kFault, kMedium, kNo, "container toolkit failed",
     "nvidia-container-cli failed[: {detail}]", "toolkit-debug", "containers cannot start", ""},
    {"container-condition", kContainer, kLogs, kFault, kHigh, kNo, "image wants a newer driver",
     "the image wants {condition}[: driver {least} or later]", "install-newer-driver older-image", "", ""},
    {"cdi-unresolvable", kContainer, kLogs, kFault, kHigh, kNo, "CDI device unknown",
     "no CDI specification names {device}: it was not generated, or is stale after a driver update",
     "generate-cdi list-cdi", "", ""},
    {"cgroup-devices-lost", kContainer, kLogs, kFault, kHigh, kNo, "container lost its GPUs",
     "a running container lost its devices: systemd reloaded its units and rewrote the cgroup's device list",
     "restart-container keep-container-devices", "", ""},
    {"port-in-use", kSetup, kLogs, kFault, kHigh, kNo, "port in use",
     "the port[ {port}] is in use by another program (vLLM and Triton both want 8000)",
     "find-port-user other-port", "", "port"},
    {"model-folder-missing", kSetup, kLogs, kFault, kHigh, kNo, "model folder not found",
     "the model folder[ {path}] is not there, as the program sees it: in a container the mount is missing or "
     "another "
     "path",
     "mount-models", "", "path"},
    {"model-not-a-folder", kSetup, kLogs, kFault, kMedium, kNo, "not a model folder",
     "{path} is no model folder: it holds no {missing}", "mount-models", "", "path"},
    {"model-access", kSetup, kLogs, kFault, kHigh, kNo, "model needs a login",
     "the model is gated or private, and no valid token was given", "hub-token", "", ""},
    {"disk-full", kSetup, kLogs, kFault, kHigh, kNo, "disk full", "no space is left on a disk[ ({path})]",
     "free-disk", "", ""},
    {"permission-model", kSetup, kLogs, kFault, kMedium, kNo, "no permission to read the model",
     "{path} may not be read by this user", "fix-permissions", "", "path"},
};

}  // namespace

std::span<const FaultRow> container_rows() {
  return kRows;
}

}  // namespace pagoda::faults
