// What --quantization asks of a source of weights: to quantise 16-bit weights while they load, or only that
// the checkpoint is quantised the way that is named.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/model.h"

namespace pagoda::model {

// How the weights are quantised already: "awq", "gptq", … as config.json says; "gguf" for a file of quantised
// blocks; empty for 16- and 32-bit weights.
std::string quantised_by(const WeightSource& source);

// Methods by vLLM's names, for --help and messages: "int8, int4, fp8, awq, …".
std::string known_quantisations();

// Empty: kNothing. Fails where the method is unknown, where the checkpoint is quantised otherwise, and where
// a method of checkpoints is asked of weights that are not quantised.
Result<QuantiseTo> choose_quantisation(const WeightSource& source, std::string_view method);

}  // namespace pagoda::model
