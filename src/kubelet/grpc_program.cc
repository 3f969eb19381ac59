#include "kubelet/grpc_program.h"

#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/subprocess.h"

namespace pagoda::kubelet {

Result<std::string> find_grpc_program() {
  std::error_code fault;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", fault).parent_path() / kGrpcProgram;
  if (access(beside.c_str(), X_OK) == 0) return beside.string();
  if (const auto in_path = find_program(kGrpcProgram)) return *in_path;
  return fail(
      ErrorCode::kNotFound,
      format("{} is neither at {} nor in PATH: it speaks the kubelet's protocols (gRPC); install the whole "
             "tarball, or build the target {} with the packages libgrpc++-dev and protobuf-compiler-grpc",
             kGrpcProgram, beside.string(), kGrpcProgram));
}

}  // namespace pagoda::kubelet
