#include "model/model_shape.h"

namespace pagoda::model {

ModelShape::ModelShape(const ModelConfig& config)
    : layers(config.layers),
      hidden(config.hidden),
      query(static_cast<int64_t>(config.heads) * config.head_dim),
      key_value(static_cast<int64_t>(2) * config.kv_heads * config.head_dim),
      ffn(config.ffn),
      vocabulary(config.vocabulary),
      context(config.context),
      kv(config.kv_layout()) {}

}  // namespace pagoda::model
