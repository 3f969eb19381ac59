// The avx2 row: the op bodies over vec_avx2.h.
// Only what stands between the pragmas may use the instructions: headers come before, so that no inline
// function of theirs is compiled for them and picked by the linker for everybody.
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "kernels/cpu/isa_rows.h"
#include "tensor/dtype.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace pagoda::kernels {
namespace avx2 {
namespace {

// Order matters: later bodies use earlier ones.
// clang-format off
#include "kernels/cpu/vec_avx2.h"
#include "kernels/cpu/elementwise_body.h"
#include "kernels/cpu/linear_int8_body.h"
#include "kernels/cpu/linear_float_body.h"
#include "kernels/cpu/kv_span_body.h"
#include "kernels/cpu/attention_body.h"
// clang-format on

}  // namespace
}  // namespace avx2

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const IsaTable kAvx2Table = {
    "avx2",
    [] {
      // Asked by hand: clang 14's builtin does not know f16c.
      unsigned eax, ebx, ecx = 0, edx;
      const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
      return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    },
    avx2::quantise,
    avx2::round_row_to_bf16,
    avx2::linear_int8,
    avx2::linear_float,
    avx2::rms_norm,
    avx2::rope,
    avx2::write_kv,
    avx2::attend,
    avx2::merge,
    avx2::finish,
    avx2::silu_multiply,
    avx2::gelu_multiply,
    avx2::add_rows,
};

}  // namespace pagoda::kernels

#endif  // __x86_64__
