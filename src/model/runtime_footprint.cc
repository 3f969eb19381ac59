#include "model/runtime_footprint.h"

namespace pagoda::model {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A CUDA process with its kernels loaded, and the libraries' workspaces.
constexpr int64_t kCudaContext = 550 * kMiB;
// Channels and staging buffers of one communicator.
constexpr int64_t kCommunicator = 300 * kMiB;
constexpr int64_t kGraphsPerLayer = 10 * kMiB;

// Resident memory of `pagoda serve` beyond weights, KV and activations (measured by tests/plan, Release
// build): the program and its threads, and per word of the vocabulary the tokenizer's tables: 45 bytes for
// byte-level BPE, 220 for SentencePiece-style models.
constexpr int64_t kProgram = 14 * kMiB;
constexpr int64_t kPerWord = 200;

}  // namespace

int64_t runtime_bytes(DeviceKind kind, const ModelShape& model, int ranks) {
  if (kind == DeviceKind::kCpu) return kProgram + kPerWord * model.vocabulary;
  return kCudaContext + (ranks > 1 ? kCommunicator : 0);
}

int64_t graph_bytes(const ModelShape& model) {
  return kGraphsPerLayer * model.layers;
}

}  // namespace pagoda::model
