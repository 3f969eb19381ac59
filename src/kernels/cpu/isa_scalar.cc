// The scalar row: the op bodies over vec_scalar.h.
#include <bit>
#include <cstring>

#include "kernels/cpu/isa_rows.h"
#include "tensor/dtype.h"

namespace pagoda::kernels {
namespace scalar {
namespace {

// Order matters: later bodies use earlier ones.
// clang-format off
#include "kernels/cpu/vec_scalar.h"
#include "kernels/cpu/elementwise_body.h"
#include "kernels/cpu/linear_int8_body.h"
#include "kernels/cpu/linear_float_body.h"
#include "kernels/cpu/kv_span_body.h"
#include "kernels/cpu/attention_body.h"
// clang-format on

}  // namespace
}  // namespace scalar

const IsaTable kScalarTable = {
    "scalar",
    [] { return true; },
    scalar::quantise,
    scalar::round_row_to_bf16,
    scalar::linear_int8,
    scalar::linear_float,
    scalar::rms_norm,
    scalar::rope,
    scalar::write_kv,
    scalar::attend,
    scalar::merge,
    scalar::finish,
    scalar::silu_multiply,
    scalar::gelu_multiply,
    scalar::add_rows,
};

}  // namespace pagoda::kernels
