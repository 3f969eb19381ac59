#include "telemetry/hardware_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastMemory = 0.75;  // of all: less is no test of the memory
constexpr std::array<std::uint32_t, 4> kPatterns = {0x00000000, 0xFFFFFFFF, 0xAAAAAAAA, 0x55555555};
constexpr int kCopies = 8;
constexpr unsigned kBlocks = 1024, kThreads = 256, kRounds = 100000;

TestResult failure(std::string reason) {
  return {std::nullopt, Verdict::kFailure, std::move(reason)};
}
TestResult skipped(std::string reason) {
  return {std::nullopt, Verdict::kSkip, std::move(reason)};
}
TestResult passed(std::string measured) {
  return {std::nullopt, Verdict::kPass, std::move(measured)};
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double gigabytes_per_second(size_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

// Memory that is given back.
class DeviceMemory {
 public:
  explicit DeviceMemory(CudaDriver& cuda) : cuda_(cuda) {}
  ~DeviceMemory() {
    for (const DevicePointer chunk : chunks_) cuda_.release(chunk);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  bool take(size_t bytes) {
    const auto chunk = cuda_.allocate(bytes);
    if (chunk) chunks_.push_back(*chunk);
    return chunk.has_value();
  }
  const std::vector<DevicePointer>& chunks() const { return chunks_; }

 private:
  CudaDriver& cuda_;
  std::vector<DevicePointer> chunks_;
};

class HostMemory {
 public:
  HostMemory(CudaDriver& cuda, size_t bytes) : cuda_(cuda), pointer_(cuda.allocate_host(bytes)) {}
  ~HostMemory() {
    if (pointer_) cuda_.release_host(*pointer_);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  const Result<void*>& pointer() const { return pointer_; }

 private:
  CudaDriver& cuda_;
  Result<void*> pointer_;
};

// A piece is at most a sixteenth of what is free.
size_t piece_of(const CudaDriver& cuda, const HardwareTestOptions& options) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  const auto memory = cuda.memory();
  const size_t share = memory ? memory->free / 16 / kMebibyte * kMebibyte : 0;
  return std::clamp(share, kMebibyte, options.piece_bytes);
}

// Words that are not the pattern.
size_t wrong_words(const void* memory, size_t words, std::uint32_t pattern) {
  const auto* begin = static_cast<const std::uint32_t*>(memory);
  return words - static_cast<size_t>(std::count(begin, begin + words, pattern));
}

Result<size_t> wrong_after(CudaDriver& cuda, const std::vector<DevicePointer>& chunks, size_t bytes,
                           void* host, std::uint32_t pattern) {
  const size_t words = bytes / sizeof(pattern);
  for (const DevicePointer chunk : chunks) PAGODA_TRY(cuda.fill(chunk, pattern, words));
  PAGODA_TRY(cuda.wait());
  size_t wrong = 0;
  for (const DevicePointer chunk : chunks) {
    PAGODA_TRY(cuda.to_host(host, chunk, bytes));
    wrong += wrong_words(host, words, pattern);
  }
  return wrong;
}

}  // namespace

TestResult test_memory(CudaDriver& cuda, const HardwareTestOptions& options) {
  const auto memory = cuda.memory();
  if (!memory) return failure(memory.error().message);
  const size_t piece = piece_of(cuda, options);
  HostMemory host(cuda, piece);
  if (!host.pointer()) return skipped(format("not run: {}", host.pointer().error().message));
  DeviceMemory taken(cuda);
  const auto wanted = static_cast<size_t>(static_cast<double>(memory->free) * options.memory_share);
  for (size_t bytes = piece; bytes <= wanted; bytes += piece) {
    if (!taken.take(piece)) break;
  }
  const size_t bytes = taken.chunks().size() * piece;
  const double share = static_cast<double>(bytes) / static_cast<double>(std::max<size_t>(memory->total, 1));
  if (share < kLeastMemory)
    return skipped(
        format("not run: {:.0f} % of the memory could be taken, and {:.0f} % are needed: end the processes "
               "that hold it",
               share * 100, kLeastMemory * 100));
  for (const std::uint32_t pattern : kPatterns) {
    const auto wrong = wrong_after(cuda, taken.chunks(), piece, *host.pointer(), pattern);
    if (!wrong) return failure(wrong.error().message);
    if (*wrong > 0)
      return failure(format("{} words of memory did not hold 0x{:08X}: replace the card", *wrong, pattern));
  }
  return passed(format("{:.1f} GiB ({:.0f} %) held {} patterns", static_cast<double>(bytes) / (1u << 30),
                       share * 100, kPatterns.size()));
}

TestResult test_pcie(CudaDriver& cuda, const HardwareTestOptions& options,
                     const std::function<driver::Reading<unsigned>()>& replays) {
  const size_t piece = piece_of(cuda, options);
  HostMemory out(cuda, piece), back(cuda, piece);
  if (!out.pointer()) return skipped(format("not run: {}", out.pointer().error().message));
  if (!back.pointer()) return skipped(format("not run: {}", back.pointer().error().message));
  DeviceMemory device(cuda);
  if (!device.take(piece)) return skipped("not run: the GPU's memory is full");
  auto* words = static_cast<std::uint32_t*>(*out.pointer());
  for (size_t i = 0; i < piece / sizeof(*words); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761u);
  const auto before = replays();
  double to_seconds = 0, from_seconds = 0;
  for (int i = 0; i < kCopies; ++i) {
    const auto begin = Clock::now();
    if (const Status sent = cuda.to_device(device.chunks()[0], words, piece); !sent)
      return failure(sent.error().message);
    if (const Status done = cuda.wait(); !done) return failure(done.error().message);
    to_seconds += seconds_since(begin);
    const auto middle = Clock::now();
    if (const Status got = cuda.to_host(*back.pointer(), device.chunks()[0], piece); !got)
      return failure(got.error().message);
    from_seconds += seconds_since(middle);
    if (std::memcmp(words, *back.pointer(), piece) != 0)
      return failure("Data came back over PCIe changed: reseat the card, or replace it");
  }
  const auto after = replays();
  const size_t bytes = piece * kCopies;
  const std::string speed =
      format("{:.1f} GB/s to the GPU, {:.1f} GB/s from it", gigabytes_per_second(bytes, to_seconds),
             gigabytes_per_second(bytes, from_seconds));
  if (before && after && *after > *before)
    return {
        std::nullopt, Verdict::kWarning,
        format("{} PCIe replays while {}: reseat the card, or look at the riser", *after - *before, speed)};
  return passed(speed);
}

TestResult test_memory_bandwidth(CudaDriver& cuda, const HardwareTestOptions& options) {
  const size_t piece = piece_of(cuda, options);
  DeviceMemory device(cuda);
  if (!device.take(piece) || !device.take(piece)) return skipped("not run: the GPU's memory is full");
  const auto begin = Clock::now();
  for (int i = 0; i < kCopies * 8; ++i) {
    if (const Status copied = cuda.on_device(device.chunks()[1], device.chunks()[0], piece); !copied)
      return failure(copied.error().message);
  }
  if (const Status done = cuda.wait(); !done) return failure(done.error().message);
  // Each byte is read and written.
  const size_t bytes = piece * kCopies * 8 * 2;
  return passed(format("{:.0f} GB/s", gigabytes_per_second(bytes, seconds_since(begin))));
}

TestResult test_stress(CudaDriver& cuda, const HardwareTestOptions& options) {
  if (const Status loaded = cuda.load(stress_ptx(), "stress"); !loaded)
    return skipped(format("not run: {}", loaded.error().message));
  const size_t threads = size_t{kBlocks} * kThreads, bytes = threads * sizeof(float);
  DeviceMemory device(cuda);
  if (!device.take(bytes)) return skipped("not run: the GPU's memory is full");
  const float expected = stress_result(kRounds);
  std::vector<float> sums(threads);
  const auto begin = Clock::now();
  size_t launches = 0;
  do {
    if (const Status cleared = cuda.fill(device.chunks()[0], 0, threads); !cleared)
      return failure(cleared.error().message);
    if (const Status started = cuda.launch(kBlocks, kThreads, device.chunks()[0], kRounds); !started)
      return failure(started.error().message);
    if (const Status done = cuda.wait(); !done) return failure(done.error().message);
    ++launches;
    if (const Status got = cuda.to_host(sums.data(), device.chunks()[0], bytes); !got)
      return failure(got.error().message);
    const auto wrong = std::count_if(sums.begin(), sums.end(), [&](float sum) { return sum != expected; });
    if (wrong > 0)
      return failure(format("{} threads came to a wrong sum under load: replace the card", wrong));
  } while (seconds_since(begin) < static_cast<double>(options.stress.count()));
  const double operations = static_cast<double>(launches) * static_cast<double>(threads) * kRounds * 2;
  return passed(
      format("{:.1f} TFLOP/s for {:.0f} s", operations / seconds_since(begin) / 1e12, seconds_since(begin)));
}

// x = x · 0.5 + 1, which tends to 2: each step is exact in every thread, whatever the GPU.
const char* stress_ptx() {
  return R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry stress(.param .u64 data, .param .u32 rounds)
{
  .reg .u64 %address, %offset;
  .reg .u32 %block, %size, %thread, %index, %left;
  .reg .f32 %x, %half, %one;
  .reg .pred %more;
  ld.param.u64 %address, [data];
  ld.param.u32 %left, [rounds];
  cvta.to.global.u64 %address, %address;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %index, %block, %size, %thread;
  mul.wide.u32 %offset, %index, 4;
  add.u64 %address, %address, %offset;
  mov.f32 %x, 0f3F800000;
  mov.f32 %half, 0f3F000000;
  mov.f32 %one, 0f3F800000;
again:
  fma.rn.f32 %x, %x, %half, %one;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra again;
  st.global.f32 [%address], %x;
  ret;
}
)";
}

float stress_result(unsigned rounds) {
  float x = 1;
  for (unsigned i = 0; i < rounds; ++i) x = std::fma(x, 0.5F, 1.0F);
  return x;
}

}  // namespace pagoda::telemetry
