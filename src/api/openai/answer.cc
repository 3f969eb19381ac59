#include "api/openai/answer.h"

#include "api/openai/error_body.h"

namespace pagoda::api {

void Answer::start(AnswerSurroundings surroundings, std::shared_ptr<http::Exchange> exchange,
                   AnswerPlan plan) {
  const auto answer = std::make_shared<Answer>(std::move(surroundings), std::move(exchange), std::move(plan));
  if (const Status status = answer->submit_all(); !status) {
    answer->cancel_all();
    answer->ended_ = true;
    answer->exchange_->respond(error_response(status.error()));
    return;
  }
  // Weak: the exchange keeps its callback, and the answer keeps the exchange.
  answer->exchange_->on_disconnect([weak = answer->weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->ended_ = true;
      self->cancel_all();
    }
  });
  const std::lock_guard lock(answer->mutex_);
  answer->started_ = true;
  if (!answer->inbox_.empty()) answer->schedule();
}

Answer::Answer(AnswerSurroundings surroundings, std::shared_ptr<http::Exchange> exchange, AnswerPlan plan)
    : surroundings_(std::move(surroundings)),
      exchange_(std::move(exchange)),
      plan_(std::move(plan)),
      writer_(plan_.head, plan_.options) {
  ++*surroundings_.in_flight;
  prompts_.resize(plan_.prompts.size());
  for (size_t p = 0; p < prompts_.size(); ++p) {
    const PlannedPrompt& prompt = plan_.prompts[p];
    if (plan_.options.return_token_ids) prompts_[p].echo.token_ids = prompt.tokens;
    for (size_t c = 0; c < choices_per_prompt(); ++c) {
      choices_.push_back({ChoiceBuilder(plan_.head.kind, plan_.options, prompt.sampling.min_tokens,
                                        *surroundings_.tokenizer),
                          WholeChoice{{}, &prompts_[p].echo}});
    }
  }
  open_choices_ = choices_.size();
}

Answer::~Answer() {
  --*surroundings_.in_flight;
}

engine::Request Answer::engine_request(size_t prompt) {
  PlannedPrompt& planned = plan_.prompts[prompt];
  engine::Request request;
  request.label = plan_.head.id;
  request.prompt = planned.tokens;
  request.sampling = planned.sampling;
  request.n = plan_.options.n;
  request.priority = plan_.priority;
  request.cache_salt = plan_.cache_salt;
  if (!plan_.options.stop.empty()) {
    text::StopOptions stop{plan_.options.stop, planned.sampling.min_tokens,
                           plan_.options.skip_special_tokens};
    request.make_stop_watcher = [tokenizer = surroundings_.tokenizer, stop = std::move(stop)] {
      return text::make_stop_watcher(*tokenizer, stop);
    };
  }
  request.sink = [self = shared_from_this(), prompt](engine::Update&& update) {
    self->receive(prompt, std::move(update));
  };
  return request;
}

Status Answer::submit_all() {
  for (size_t p = 0; p < plan_.prompts.size(); ++p) {
    PAGODA_ASSIGN(const engine::RequestId id, surroundings_.engine->submit(engine_request(p)));
    const std::lock_guard lock(mutex_);
    ids_.push_back(id);
  }
  return {};
}

void Answer::cancel_all() {
  std::vector<engine::RequestId> ids;
  {
    const std::lock_guard lock(mutex_);
    ids.swap(ids_);
    inbox_.clear();
  }
  for (const engine::RequestId id : ids) surroundings_.engine->cancel(id);
}

void Answer::receive(size_t prompt, engine::Update&& update) {
  if (ended_) return;
  const std::lock_guard lock(mutex_);
  inbox_.push_back({prompt, std::move(update)});
  if (started_) schedule();
}

void Answer::schedule() {
  if (scheduled_) return;
  scheduled_ = surroundings_.workers->post([self = shared_from_this()] { self->drain(); });
}

void Answer::drain() {
  std::deque<News> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(inbox_);
  }
  for (News& news : batch) {
    if (ended_) break;
    process(news);
  }
  if (!out_.empty()) {
    std::string chunk = std::exchange(out_, {});
    ended_ ? exchange_->end(std::move(chunk)) : exchange_->send(std::move(chunk));
  }
  // What came meanwhile waits its turn behind other answers.
  const std::lock_guard lock(mutex_);
  scheduled_ = false;
  if (!inbox_.empty() && !ended_) schedule();
}

void Answer::process(News& news) {
  PromptState& prompt = prompts_[news.prompt];
  const bool needs_prompt = plan_.echo_logprobs || plan_.options.prompt_logprobs;
  if (news.update.choice == 0 && !prompt.begun) {
    begin_prompt(news);
  } else if (!prompt.begun && needs_prompt) {
    prompt.held.push_back(std::move(news));
    return;
  }
  process_choice(news);
  while (prompt.begun && !prompt.held.empty() && !ended_) {
    News held = std::move(prompt.held.front());
    prompt.held.pop_front();
    process_choice(held);
  }
}

void Answer::begin_prompt(News& news) {
  PromptState& prompt = prompts_[news.prompt];
  prompt.begun = true;
  prompt.cached_tokens = news.update.cached_tokens;
  prompt.logprobs = std::move(news.update.prompt_logprobs);
  if (plan_.options.prompt_logprobs) {
    prompt.echo.logprobs =
        prompt_logprobs_json(*surroundings_.tokenizer, prompt.logprobs, *plan_.options.prompt_logprobs);
  }
}

void Answer::process_choice(News& news) {
  if (const auto& finish = news.update.finish) {
    if (finish->reason == engine::FinishReason::kError) return fail_with(finish->error);
    if (finish->reason == engine::FinishReason::kAbort) {
      return fail_with({ErrorCode::kUnavailable, "the request was ended: the server is shutting down", {}});
    }
  }
  const size_t index = news.prompt * choices_per_prompt() + static_cast<size_t>(news.update.choice);
  ChoiceState& choice = choices_[index];
  const bool first = !choice.begun;
  choice.begun = true;
  ChoicePiece piece;
  const PlannedPrompt& planned = plan_.prompts[news.prompt];
  if (first && (!planned.echo_text.empty() || plan_.echo_logprobs)) {
    piece = choice.builder.echo(planned.echo_text, planned.tokens, prompts_[news.prompt].logprobs);
  }
  piece.append(choice.builder.accept(news.update));
  choice.tokens += piece.tokens;
  take_piece(index, std::move(piece), first);
  if (news.update.finish && --open_choices_ == 0) complete();
}

void Answer::take_piece(size_t index, ChoicePiece&& piece, bool first) {
  ChoiceState& choice = choices_[index];
  if (!plan_.options.stream) {
    choice.whole.piece.append(std::move(piece));
    return;
  }
  begin_stream();
  // Held-back text makes empty chunks: they go out only where they carry something else.
  const bool carries = !piece.text.empty() || piece.ending || plan_.options.return_token_ids ||
                       (plan_.options.logprobs && piece.tokens > 0);
  if (!carries) return;
  const Usage usage = usage_of(index);
  writer_.piece_chunk(out_, static_cast<int>(index), piece, first ? choice.whole.prompt : nullptr,
                      plan_.options.continuous_usage ? &usage : nullptr);
}

void Answer::begin_stream() {
  if (streaming_) return;
  streaming_ = true;
  http::Response head;
  head.content_type = "text/event-stream; charset=utf-8";
  head.headers.set("Cache-Control", "no-cache");
  exchange_->begin_stream(std::move(head));
  if (plan_.head.kind != AnswerKind::kChat) return;
  for (size_t i = 0; i < choices_.size(); ++i) {
    Usage usage = usage_of(i);
    usage.completion_tokens = 0;
    writer_.role_chunk(out_, static_cast<int>(i), *choices_[i].whole.prompt,
                       plan_.options.continuous_usage ? &usage : nullptr);
  }
}

void Answer::complete() {
  ended_ = true;
  if (plan_.options.stream) {
    if (plan_.options.include_usage) writer_.usage_chunk(out_, total_usage());
    out_ += "data: [DONE]\n\n";
    return;  // drain() sends and ends
  }
  std::vector<WholeChoice> whole;
  whole.reserve(choices_.size());
  for (ChoiceState& choice : choices_) whole.push_back(std::move(choice.whole));
  http::Response response;
  response.body = writer_.whole(whole, total_usage());
  exchange_->respond(std::move(response));
}

void Answer::fail_with(const Error& error) {
  ended_ = true;
  cancel_all();
  if (!streaming_) {
    exchange_->respond(error_response(error));
    return;
  }
  out_ += "data: " + error_json(error) + "\n\ndata: [DONE]\n\n";
}

Usage Answer::usage_of(size_t choice) const {
  Usage usage;
  usage.prompt_tokens = static_cast<int64_t>(plan_.prompts[choice / choices_per_prompt()].tokens.size());
  usage.completion_tokens = choices_[choice].tokens;
  return usage;
}

Usage Answer::total_usage() const {
  Usage usage;
  int64_t cached = 0;
  for (size_t p = 0; p < prompts_.size(); ++p) {
    usage.prompt_tokens += static_cast<int64_t>(plan_.prompts[p].tokens.size());
    cached += prompts_[p].cached_tokens;
  }
  for (const ChoiceState& choice : choices_) usage.completion_tokens += choice.tokens;
  if (plan_.prompt_tokens_details) usage.cached_tokens = cached;
  return usage;
}

}  // namespace pagoda::api
