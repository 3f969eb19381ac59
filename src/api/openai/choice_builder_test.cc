#include "api/openai/choice_builder.h"

#include <gtest/gtest.h>

#include "api/openai/json_body.h"
#include "api/testing/byte_tokenizer.h"
#include "api/testing/scripted_engine.h"

namespace pagoda::api {
namespace {

using engine::FinishReason;
using testing::ByteTokenizer;
using testing::end_token;
using testing::finish_of;
using testing::tokens_of;

const ByteTokenizer kTokenizer;

ChoiceBuilder builder_of(const AnswerOptions& options, AnswerKind kind = AnswerKind::kCompletion) {
  return ChoiceBuilder(kind, options, 0, kTokenizer);
}

TEST(ChoiceBuilder, NeverSplitsACharacter) {
  const AnswerOptions options;
  ChoiceBuilder builder = builder_of(options);
  std::string text;
  for (char byte : std::string("a😀é")) {
    const ChoicePiece piece = builder.accept(tokens_of(std::string_view(&byte, 1)));
    EXPECT_EQ(piece.text.find("\xef\xbf\xbd"), std::string::npos);
    text += piece.text;
  }
  EXPECT_EQ(text, "a😀é");
}

TEST(ChoiceBuilder, LeavesOutACharacterThatNeverEnds) {
  const AnswerOptions options;
  ChoiceBuilder builder = builder_of(options);
  engine::Update update = tokens_of("a\xf0\x9f");
  update.finish = finish_of(FinishReason::kLength).finish;
  const ChoicePiece piece = builder.accept(update);
  EXPECT_EQ(piece.text, "a");
  EXPECT_EQ(piece.tokens, 3);
  EXPECT_EQ(piece.ending->finish_reason, "length");
  EXPECT_EQ(piece.ending->stop_reason, "null");
}

TEST(ChoiceBuilder, EndTokensAreCountedButNotShown) {
  AnswerOptions options;
  options.skip_special_tokens = false;
  options.return_token_ids = true;
  ChoiceBuilder builder = builder_of(options);
  ChoicePiece piece = builder.accept(tokens_of("hi"));
  piece.append(builder.accept(end_token(ByteTokenizer::kEos)));
  EXPECT_EQ(piece.text, "hi");
  EXPECT_EQ(piece.tokens, 3);
  EXPECT_EQ(piece.token_ids.back(), ByteTokenizer::kEos);
  EXPECT_EQ(piece.ending->finish_reason, "stop");
}

TEST(ChoiceBuilder, StopTokensAreShownOnDemand) {
  AnswerOptions options;
  options.include_stop_string = true;
  engine::Update update = end_token('!');
  update.finish->stop_token = '!';
  const ChoicePiece piece = builder_of(options).accept(update);
  EXPECT_EQ(piece.text, "!");
  EXPECT_EQ(piece.ending->stop_reason, "33");
}

TEST(ChoiceBuilder, CutsAtTheStopString) {
  for (const bool include : {false, true}) {
    AnswerOptions options;
    options.stop = {"9, 1"};
    options.include_stop_string = include;
    ChoiceBuilder builder = builder_of(options);
    std::string text = builder.accept(tokens_of("8, 9")).text;
    EXPECT_EQ(text.find('9'), std::string::npos);
    engine::Update update = tokens_of(", 1");
    update.finish = finish_of(FinishReason::kStop).finish;
    update.finish->stop_string = "9, 1";
    const ChoicePiece piece = builder.accept(update);
    EXPECT_EQ(text + piece.text, include ? "8, 9, 1" : "8, ");
    EXPECT_EQ(piece.ending->stop_reason, "\"9, 1\"");
  }
}

TEST(ChoiceBuilder, OffsetsAreCharactersOfTheText) {
  AnswerOptions options;
  options.logprobs = 0;
  ChoiceBuilder builder = builder_of(options);
  const ChoicePiece echo = builder.echo("é", std::vector<int32_t>{ByteTokenizer::kBos, 0xc3, 0xa9}, {});
  EXPECT_EQ(echo.completion_logprobs.text_offset, "0,0,0");
  EXPECT_EQ(builder.accept(tokens_of("a😀b")).completion_logprobs.text_offset, "1,2,2,2,2,3");
}

TEST(ChoiceBuilder, PiecesJoinToTheWhole) {
  AnswerOptions options;
  options.logprobs = 1;
  options.return_token_ids = true;
  for (const AnswerKind kind : {AnswerKind::kChat, AnswerKind::kCompletion}) {
    engine::Update all = tokens_of("one two 😀");
    ChoicePiece whole = builder_of(options, kind).accept(all);
    ChoiceBuilder builder = builder_of(options, kind);
    ChoicePiece joined;
    for (const engine::SampledToken& token : all.tokens) {
      engine::Update one;
      one.tokens.push_back(token);
      joined.append(builder.accept(one));
    }
    EXPECT_EQ(joined.text, whole.text);
    EXPECT_EQ(joined.token_ids, whole.token_ids);
    EXPECT_EQ(joined.chat_logprobs.content, whole.chat_logprobs.content);
    EXPECT_EQ(joined.completion_logprobs.top_logprobs, whole.completion_logprobs.top_logprobs);
    EXPECT_EQ(joined.completion_logprobs.text_offset, whole.completion_logprobs.text_offset);
  }
}

}  // namespace
}  // namespace pagoda::api
