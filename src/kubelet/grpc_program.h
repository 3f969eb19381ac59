// pagoda-grpc: the program that speaks gRPC, in a file of its own so that `pagoda` stays small and starts at
// once.
#pragma once

#include <string>

#include "base/result.h"

namespace pagoda::kubelet {

inline constexpr const char* kGrpcProgram = "pagoda-grpc";

// Beside this program's own file, else in PATH. kNotFound says how to get it.
Result<std::string> find_grpc_program();

}  // namespace pagoda::kubelet
