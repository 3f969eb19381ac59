// Tokens that end an answer by their name, where a model's metadata names only one of several.
#pragma once

#include <string_view>

namespace pagoda::text {

struct EndTokenName {
  std::string_view text;
  bool even_if_not_control;  // some files mark it as an ordinary token by mistake; it then becomes a control
  std::string_view unless_beside;  // in a vocabulary that has this token, the name means something else
};

inline constexpr EndTokenName kEndTokenNames[] = {
    {"<|im_end|>", true, {}},              // ChatML: Qwen, SmolLM, Yi
    {"<|eot_id|>", true, {}},              // Llama 3: end of turn
    {"<|eom_id|>", true, {}},              // Llama 3.1: end of message, a tool is called
    {"<|eot|>", false, {}},                // Llama 4
    {"<end_of_turn>", true, {}},           // Gemma 2 and 3
    {"<turn|>", false, {}},                // Gemma 4
    {"<|end|>", true, "<|return|>"},       // Phi; in gpt-oss it ends a message, not the answer
    {"<|return|>", true, {}},              // gpt-oss
    {"<|call|>", true, {}},                // gpt-oss: a tool is called
    {"<|endoftext|>", true, {}},           // GPT-2 and many after it
    {"<|end_of_text|>", true, {}},         // Llama 3, Granite
    {"<|END_OF_TURN_TOKEN|>", false, {}},  // Command R
    {"<\xEF\xBD\x9C"
     "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
     true,
     {}},                    // DeepSeek
    {"<|EOT|>", false, {}},  // DeepSeek Coder
    {"<EOT>", false, {}},
    {"[EOT]", false, {}},               // Kimi K2
    {"[EOS]", false, {}},               // Kimi K2
    {"[e~[", false, {}},                // MiniMax M2
    {"<end_of_utterance>", false, {}},  // SmolVLM
    {"</s>", false, {}},                // Llama 2, Mistral; an HTML tag in Gemma, where it is no control
    {"<eos>", false, {}},
};

}  // namespace pagoda::text
