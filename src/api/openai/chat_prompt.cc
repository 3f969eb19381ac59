#include "api/openai/chat_prompt.h"

#include "base/format.h"

namespace pagoda::api {

Result<std::string> render_chat(const ServiceCore& core, const ChatPrompt& prompt) {
  const text::ChatTemplate* chat_template = core.backend().chat_template;
  std::unique_ptr<text::ChatTemplate> own;
  if (!prompt.own_template.empty()) {
    const text::Tokenizer& tokenizer = *core.backend().tokenizer;
    const auto piece = [&](int32_t token) {
      return token < 0 ? std::string() : std::string(tokenizer.piece(token));
    };
    auto parsed =
        text::parse_chat_template(prompt.own_template, piece(tokenizer.bos()), piece(tokenizer.eos()));
    if (!parsed) return fail(ErrorCode::kInvalidArgument, parsed.error().message, "chat_template");
    own = std::move(*parsed);
    chat_template = own.get();
  }
  if (!chat_template) {
    return fail(ErrorCode::kInvalidArgument,
                format("the model {} has no chat template; start the server with --chat-template, or use "
                       "/v1/completions",
                       core.model_name()),
                "messages");
  }
  text::ChatTemplateInput input;
  input.messages = &prompt.messages;
  input.tools = prompt.tools.is_null() ? nullptr : &prompt.tools;
  input.documents = prompt.documents.is_null() ? nullptr : &prompt.documents;
  input.extra = &prompt.template_kwargs;
  input.add_generation_prompt = prompt.add_generation_prompt;
  input.continue_final_message = prompt.continue_final_message;
  Result<std::string> text = chat_template->render(input);
  if (!text) {
    return fail(ErrorCode::kInvalidArgument,
                format("the chat template refuses the request: {}", text.error().message), "messages");
  }
  return text;
}

Result<std::vector<int32_t>> tokenize_chat(const ServiceCore& core, const ChatPrompt& prompt) {
  PAGODA_ASSIGN(const std::string text, render_chat(core, prompt));
  PAGODA_TRY(check_text_size(text, core.longest_piece(), core.limits()));
  return core.backend().tokenizer->encode(text,
                                          {.add_special = prompt.add_special_tokens, .parse_special = true});
}

}  // namespace pagoda::api
