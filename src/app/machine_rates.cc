#include "app/machine_rates.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "app/machine.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "tensor/buffer.h"

namespace pagoda::app {
namespace {

constexpr size_t kReadBytes = size_t{64} << 20;  // past every cache of the last level
// Each takes a few milliseconds: on a busy machine some are left alone.
constexpr int kRepeats = 16;
constexpr int64_t kMatrixBytes = int64_t{48} << 20;
constexpr int kManyRows = 32;

// Kept, so that the sums are computed.
std::atomic<uint64_t> g_sink;

uint64_t sum_of(const uint64_t* data, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += data[i + j];
  }
  uint64_t sum = 0;
  for (uint64_t part : sums) sum += part;
  return sum;
}

// The best of some tries: others' work only ever slows it down.
template <class Body>
double best_seconds(Body&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) {
    Stopwatch watch;
    body();
    best = std::min(best, watch.seconds());
  }
  return best;
}

// The type whose kernels the weights of so many bits use.
DType weight_type(double bits) {
  if (bits > 16) return DType::kF32;
  if (bits > 10) return DType::kBF16;
  return bits > 6 ? DType::kQ8_0 : DType::kQ4_0;
}

struct LinearTimes {
  double one_row = 0, many_rows = 0;  // seconds of kManyRows
  double elements = 0;
};

Result<LinearTimes> time_linear(int columns, DType dtype, kernels::CpuCompute& compute) {
  const int64_t row_bytes = static_cast<int64_t>(bytes_of(dtype, static_cast<size_t>(columns)));
  const int rows = static_cast<int>(std::max<int64_t>(16, kMatrixBytes / row_bytes / 16 * 16));
  const Buffer zeros(static_cast<size_t>(rows) * static_cast<size_t>(row_bytes));
  const TensorView weights{zeros.data(), dtype, Shape{rows, columns}};
  PAGODA_ASSIGN(const kernels::PackedMatrix packed,
                kernels::pack({&weights, 1}, kernels::native_format(dtype), compute.pool()));
  std::vector<float> x(static_cast<size_t>(kManyRows) * static_cast<size_t>(columns), 0.5f);
  std::vector<float> y(static_cast<size_t>(kManyRows) * static_cast<size_t>(rows));
  const auto activations = is_quantised(dtype) ? kernels::Activations::kInt8 : kernels::Activations::kF32;
  const auto seconds = [&](int tokens) {
    return best_seconds([&] {
      const kernels::LinearOutput output{&packed, Matrix(y.data(), tokens, rows), kernels::Store::kOverwrite};
      compute.linear(ConstMatrix(x.data(), tokens, columns), activations, {&output, 1});
    });
  };
  return LinearTimes{seconds(1), seconds(kManyRows), static_cast<double>(rows) * columns};
}

}  // namespace

double memory_read_rate() {
  ThreadPool pool(std::max(1, inspect_machine().cores));
  Buffer buffer(kReadBytes);
  std::fill_n(buffer.as<uint8_t>(), kReadBytes, uint8_t{1});
  const size_t part = kReadBytes / static_cast<size_t>(pool.size()) / 64 * 64;
  const double seconds = best_seconds([&] {
    pool.run([&](int worker) {
      g_sink = sum_of(buffer.as<uint64_t>(static_cast<size_t>(worker) * part), part / sizeof(uint64_t));
    });
  });
  return static_cast<double>(part) * pool.size() / seconds;
}

Result<model::StepRates> measure_step_rates(const model::DeploymentPlan& plan) {
  const model::Deployment& d = plan.deployment;
  PAGODA_ASSIGN(const kernels::IsaTable* isa, kernels::choose_isa());
  ThreadPool pool(std::max(1, inspect_machine().cores));
  kernels::CpuCompute compute(*isa, pool);
  const int columns = std::max(32, d.facts.hidden / 32 * 32);
  PAGODA_ASSIGN(const LinearTimes times, time_linear(columns, weight_type(d.scheme.linear_bits), compute));
  const double scale = static_cast<double>(plan.parameters_used) / times.elements;
  model::StepRates rates;
  rates.row = scale * std::max(0.0, times.many_rows - times.one_row) / (kManyRows - 1);
  rates.step = std::max(0.0, scale * times.one_row - rates.row);
  const double bandwidth = d.device.memory_bandwidth > 0 ? d.device.memory_bandwidth : memory_read_rate();
  rates.kv_token = static_cast<double>(plan.kv_bytes_per_token) / bandwidth;
  // A block is read and written.
  rates.swap_block = 2.0 * static_cast<double>(plan.kv_bytes_per_token) * d.serving.block_size / bandwidth;
  return rates;
}

}  // namespace pagoda::app
