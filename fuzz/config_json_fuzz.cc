// A config.json from a stranger: translated, then read as the model's facts, or refused.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/encoder_config.h"
#include "model/hugging_face/config_json.h"
#include "model/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::model;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto json = nlohmann::json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return 0;
  TextStore texts;
  WeightMetadata metadata;
  if (!read_config_json(json, texts, metadata)) return 0;
  if (is_encoder(metadata)) {
    (void)read_encoder_config(metadata);
  } else {
    (void)read_config(metadata);
  }
  return 0;
}
