// One generation request on its way: its prompts in the engine, its updates coming back, its answer going
// out.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/openai/answer_writer.h"
#include "api/openai/worker_pool.h"
#include "engine/engine.h"
#include "http/message.h"

namespace pagoda::api {

struct PlannedPrompt {
  std::vector<int32_t> tokens;
  engine::SamplingParams sampling;
  std::string echo_text;  // stands in front of each of its choices; may be empty
};

// Everything that is decided before the engine is asked.
struct AnswerPlan {
  AnswerHead head;
  AnswerOptions options;
  bool echo_logprobs = false;  // the echoed prompt shows logprobs: nothing goes out before they are there
  bool prompt_tokens_details = false;
  int priority = 0;
  std::string cache_salt;
  std::vector<PlannedPrompt> prompts;
};

// What an answer needs of the service; must outlive it, but for the pool.
struct AnswerSurroundings {
  engine::Engine* engine = nullptr;
  const text::Tokenizer* tokenizer = nullptr;
  std::shared_ptr<WorkerPool> workers;
  std::shared_ptr<std::atomic<int>> in_flight;
};

class Answer : public std::enable_shared_from_this<Answer> {
 public:
  // Submits every prompt and answers, in time, on the exchange: with the error, a whole answer or a stream.
  // The client's going away cancels what runs.
  static void start(AnswerSurroundings surroundings, std::shared_ptr<http::Exchange> exchange,
                    AnswerPlan plan);
  Answer(AnswerSurroundings surroundings, std::shared_ptr<http::Exchange> exchange, AnswerPlan plan);
  ~Answer();

 private:
  struct News {
    size_t prompt;
    engine::Update update;
  };
  struct PromptState {
    PromptEcho echo;
    std::vector<engine::SampledToken> logprobs;
    bool begun = false;  // its first update is here
    int cached_tokens = 0;
    std::deque<News> held;  // other choices' updates that came before it
  };
  struct ChoiceState {
    ChoiceBuilder builder;
    WholeChoice whole;
    int64_t tokens = 0;
    bool begun = false;
  };

  Status submit_all();
  engine::Request engine_request(size_t prompt);
  void cancel_all();

  void receive(size_t prompt, engine::Update&& update);  // engine thread
  void schedule();
  void drain();  // worker
  void process(News& news);
  void process_choice(News& news);
  void begin_prompt(News& news);
  void take_piece(size_t choice, ChoicePiece&& piece, bool first);
  void begin_stream();
  void complete();
  void fail_with(const Error& error);

  Usage total_usage() const;
  Usage usage_of(size_t choice) const;
  size_t choices_per_prompt() const { return static_cast<size_t>(plan_.options.n); }

  AnswerSurroundings surroundings_;
  std::shared_ptr<http::Exchange> exchange_;
  AnswerPlan plan_;
  AnswerWriter writer_;

  std::mutex mutex_;
  std::deque<News> inbox_;              // guarded by mutex_
  std::vector<engine::RequestId> ids_;  // guarded by mutex_
  bool started_ = false;                // guarded: all prompts are in, answering may begin
  bool scheduled_ = false;              // guarded: a drain() is posted or runs
  std::atomic<bool> ended_{false};

  // Of the one drain() that runs.
  std::vector<PromptState> prompts_;
  std::vector<ChoiceState> choices_;
  size_t open_choices_ = 0;
  bool streaming_ = false;
  std::string out_;
};

}  // namespace pagoda::api
