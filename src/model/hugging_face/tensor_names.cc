#include "model/hugging_face/tensor_names.h"

#include <span>

#include "base/format.h"
#include "model/hugging_face/encoder_folder.h"

namespace pagoda::model {
namespace {

struct NamePair {
  std::string_view hugging_face, gguf;
  std::string_view architecture = {};  // empty: all that no row above names
};

constexpr NamePair kOutside[] = {
    {"embed_tokens.weight", "token_embd.weight"},
    {"norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

constexpr NamePair kInLayer[] = {
    {"input_layernorm.weight", "attn_norm.weight"},
    {"self_attn.q_proj.weight", "attn_q.weight"},
    {"self_attn.k_proj.weight", "attn_k.weight"},
    {"self_attn.v_proj.weight", "attn_v.weight"},
    {"self_attn.q_proj.bias", "attn_q.bias"},
    {"self_attn.k_proj.bias", "attn_k.bias"},
    {"self_attn.v_proj.bias", "attn_v.bias"},
    {"self_attn.o_proj.weight", "attn_output.weight"},
    {"self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"post_attention_layernorm.weight", "post_attention_norm.weight", "gemma3"},
    {"post_attention_layernorm.weight", "ffn_norm.weight"},
    {"pre_feedforward_layernorm.weight", "ffn_norm.weight"},
    {"post_feedforward_layernorm.weight", "post_ffw_norm.weight"},
    {"mlp.gate_proj.weight", "ffn_gate.weight"},
    {"mlp.up_proj.weight", "ffn_up.weight"},
    {"mlp.down_proj.weight", "ffn_down.weight"},
};

// A text model may lie inside a larger one.
constexpr std::string_view kPrefixes[] = {"language_model.model.", "model.language_model.", "language_model.",
                                          "model."};

std::string_view look_up(std::span<const NamePair> table, std::string_view name,
                         std::string_view architecture) {
  for (const NamePair& pair : table) {
    if (pair.hugging_face == name && (pair.architecture.empty() || pair.architecture == architecture))
      return pair.gguf;
  }
  return {};
}

}  // namespace

std::string gguf_name_of(std::string_view name, std::string_view architecture) {
  if (architecture == "bert") return encoder_tensor_name(name);
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  constexpr std::string_view kLayers = "layers.";
  if (!name.starts_with(kLayers)) return std::string(look_up(kOutside, name, architecture));
  name.remove_prefix(kLayers.size());
  const size_t dot = name.find('.');
  const std::string_view layer = name.substr(0, dot);
  if (dot == std::string_view::npos || layer.empty() ||
      layer.find_first_not_of("0123456789") != std::string_view::npos)
    return {};
  const std::string_view inside = look_up(kInLayer, name.substr(dot + 1), architecture);
  return inside.empty() ? std::string() : format("blk.{}.{}", layer, inside);
}

}  // namespace pagoda::model
