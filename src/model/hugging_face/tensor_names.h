// Hugging Face's names of tensors in GGUF's words: "model.layers.3.self_attn.q_proj.weight" is
// "blk.3.attn_q.weight".
#pragma once

#include <string>
#include <string_view>

namespace pagoda::model {

// Empty for a tensor that no architecture here reads (buffers, vision towers).
std::string gguf_name_of(std::string_view hugging_face_name, std::string_view architecture);

}  // namespace pagoda::model
