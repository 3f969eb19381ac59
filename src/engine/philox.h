// Random numbers by counter: the same (key, counter) gives the same number whenever and wherever it is asked
// for, so a seed's answer does not depend on the batch, on preemption or on the order of requests.
#pragma once

#include <array>
#include <cstdint>

namespace pagoda::engine {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

// Uniform in [0, 1), with 53 random bits, for the `position`th token of choice `choice` under `seed`.
inline double uniform(uint64_t seed, uint32_t choice, uint64_t position) {
  const auto bits =
      philox({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), choice, 0},
             {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t wide = (uint64_t{bits[0]} << 32) | bits[1];
  return static_cast<double>(wide >> 11) * 0x1.0p-53;
}

}  // namespace pagoda::engine
