// The avx512 row: the op bodies over vec_avx512.h.
// Only what stands between the pragmas may use the instructions: headers come before, so that no inline
// function of theirs is compiled for them and picked by the linker for everybody.
#if defined(__x86_64__)
// GCC 12's own header passes undefined registers on purpose and warns of them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "kernels/cpu/isa_rows.h"
#include "tensor/dtype.h"

#if defined(__clang__)
#pragma clang attribute push(                                                               \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")
#endif

namespace pagoda::kernels {
namespace avx512 {
namespace {

// Order matters: later bodies use earlier ones.
// clang-format off
#include "kernels/cpu/vec_avx512.h"
#include "kernels/cpu/elementwise_body.h"
#include "kernels/cpu/linear_int8_body.h"
#include "kernels/cpu/linear_float_body.h"
#include "kernels/cpu/kv_span_body.h"
#include "kernels/cpu/attention_body.h"
// clang-format on

}  // namespace
}  // namespace avx512

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const IsaTable kAvx512Table = {
    "avx512",
    [] {
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512vnni");
    },
    avx512::quantise,
    avx512::round_row_to_bf16,
    avx512::linear_int8,
    avx512::linear_float,
    avx512::rms_norm,
    avx512::rope,
    avx512::write_kv,
    avx512::attend,
    avx512::merge,
    avx512::finish,
    avx512::silu_multiply,
    avx512::gelu_multiply,
    avx512::add_rows,
};

}  // namespace pagoda::kernels

#endif  // __x86_64__
