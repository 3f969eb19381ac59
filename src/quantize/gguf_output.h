// A model as a quantised GGUF file, from GGUF or a Hugging Face folder, tensor by tensor: memory holds a few
// rows at a time.
#pragma once

#include <string>

#include "base/result.h"
#include "quantize/gguf_scheme.h"
#include "quantize/progress.h"

namespace pagoda {
class ThreadPool;
}

namespace pagoda::quantize {

// Whether loaders other than this project's know the tokenizer that the file will name; else why not.
std::string foreign_tokenizer_note(const model::WeightSource& source);

Status write_gguf(const model::WeightSource& source, const GgufScheme& scheme, const std::string& path,
                  ThreadPool& pool, const ProgressSink& progress);

}  // namespace pagoda::quantize
