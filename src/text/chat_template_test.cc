#include "text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace pagoda::text {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

struct Rendering {
  ordered_json messages = ordered_json::array({{{"role", "user"}, {"content", "Hi"}}});
  ordered_json extra = ordered_json::object();
  bool continued = false;
};

Result<std::string> render(const std::string& source, const Rendering& rendering = {}) {
  auto parsed = parse_chat_template(source, "<s>", "</s>");
  if (!parsed) return Unexpected(parsed.error());
  ChatTemplateInput input;
  input.messages = &rendering.messages;
  input.extra = &rendering.extra;
  input.continue_final_message = rendering.continued;
  input.now = 1741521600;  // 2025-03-09 12:00:00 UTC
  return (*parsed)->render(input);
}

std::string error_of(const std::string& source, const Rendering& rendering = {}) {
  const auto rendered = render(source, rendering);
  EXPECT_FALSE(rendered) << *rendered;
  return rendered ? std::string() : rendered.error().message;
}

TEST(ChatTemplate, RendersAConversation) {
  const auto rendered = render(
      "{{ bos_token }}{% for m in messages %}\n<|{{ m.role }}|>{{ m['content'] | trim }}{{ eos_token }}\n{% "
      "endfor %}\n"
      "{% if add_generation_prompt %}\n<|assistant|>{% endif %}");
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(*rendered, "<s><|user|>Hi</s>\n<|assistant|>");
}

TEST(ChatTemplate, ExtraVariablesReachTheTemplate) {
  Rendering rendering;
  rendering.extra["enable_thinking"] = false;
  EXPECT_EQ(*render("{{ enable_thinking }} {{ tools is none }}", rendering), "False True");
}

TEST(ChatTemplate, WritesValuesAsPythonDoes) {
  Rendering rendering;
  rendering.extra = ordered_json::parse(R"({"x": [1, 0.1, 1e-07, 1e22, null, "it's", {"k": true}]})");
  EXPECT_EQ(*render("{{ x }}", rendering), R"([1, 0.1, 1e-07, 1e+22, None, "it's", {'k': True}])");
  EXPECT_EQ(*render("{{ x | tojson }}", rendering), R"([1, 0.1, 1e-07, 1e+22, null, "it's", {"k": true}])");
  EXPECT_EQ(*render("{{ {'b': 1, 'a': '<é>'} | tojson(sort_keys=true, separators=(',', ':')) }}"),
            R"({"a":"<é>","b":1})");
  EXPECT_EQ(*render("{{ '😀' | tojson(ensure_ascii=true) }}"), R"("\ud83d\ude00")");
  EXPECT_EQ(*render("{{ 'a' ~ none ~ 1 }}"), "aNone1");
}

TEST(ChatTemplate, LeavesOutMembersThatAreNullAndNamesReasoningThrice) {
  Rendering rendering;
  rendering.messages = ordered_json::parse(R"([{"role": "assistant", "content": null, "reasoning": "r"}])");
  EXPECT_EQ(*render("{{ messages[0].content is defined }} {{ messages[0].reasoning_content }}{{ "
                    "messages[0].thinking }}",
                    rendering),
            "False rr");
}

TEST(ChatTemplate, RaisedMessagesComeThroughWordForWord) {
  EXPECT_EQ(error_of("{{ raise_exception('roles must alternate') }}"), "roles must alternate");
}

TEST(ChatTemplate, FaultsNameTheirLine) {
  EXPECT_THAT(error_of("a\nb\n{{ messages | nonsense }}"),
              testing::AllOf(HasSubstr("line 3"), HasSubstr("nonsense")));
  EXPECT_THAT(error_of("{% if x %}"), HasSubstr("does not parse"));
  EXPECT_THAT(error_of("{{ 'unfinished }}"), HasSubstr("chat template"));
  Rendering rendering;
  rendering.messages = ordered_json::parse("[7]");
  EXPECT_THAT(error_of("x", rendering), HasSubstr("must be an object"));
}

TEST(ChatTemplate, ContinuesTheFinalMessage) {
  Rendering rendering;
  rendering.continued = true;
  const std::string keeps = "{% for m in messages %}<{{ m.content }}>{% endfor %}";
  const std::string strips = "{% for m in messages %}<{{ m.content | trim }}>{% endfor %}";
  rendering.messages = ordered_json::parse(R"([{"role": "assistant", "content": "La la "}])");
  EXPECT_EQ(*render(keeps, rendering), "<La la ");
  EXPECT_EQ(*render(strips, rendering), "<La la");
  rendering.messages = ordered_json::parse(
      R"([{"role": "assistant", "content": [{"type": "text", "text": "La"}, {"type": "image"}]}])");
  EXPECT_EQ(*render("{{ messages[0].content[0].text }}>", rendering), "La");
  EXPECT_THAT(error_of("nothing", rendering), HasSubstr("continue_final_message"));
  rendering.messages = ordered_json::parse(R"([{"role": "assistant"}])");
  EXPECT_THAT(error_of(keeps, rendering), HasSubstr("no text to continue"));
}

TEST(ChatTemplate, NothingRunsWithoutEnd) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string loops =
      "{% for a in range(99) %}{% for b in range(99999) %}{% for c in range(9999) %}{% endfor %}{% endfor "
      "%}{% endfor %}";
  EXPECT_THAT(error_of(loops), testing::AnyOf(HasSubstr("steps"), HasSubstr("longer than")));
  EXPECT_THAT(error_of("{{ range(1000000000) | length }}"), HasSubstr("range() too big"));
  EXPECT_THAT(error_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("chat template"));
  EXPECT_THAT(
      error_of(
          "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"),
      HasSubstr("MiB of text"));
  EXPECT_THAT(error_of("{{ 'x' * 2000000000 }}"), HasSubstr("repeats"));
  EXPECT_THAT(error_of("{% set x = 'x' * 900000 %}{% for i in range(9999) %}{{ x }}{% endfor %}"),
              HasSubstr("MiB"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(12));
}

TEST(ChatTemplate, HostileValuesAreRefused) {
  EXPECT_THAT(error_of("{% set ns = namespace(a=1) %}{% set ns.a = ns %}{{ ns }}"),
              HasSubstr("contain itself"));
  EXPECT_THAT(error_of("{% set ns = namespace(a=1) %}{% set ns.a = [[ns]] %}{{ ns ~ '' }}"),
              HasSubstr("contain itself"));
  EXPECT_THAT(
      error_of("{% set ns = namespace(a=1) %}{% for i in range(9999) %}{% set ns.a = [ns.a] %}{% endfor %}"),
      HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("{% set l = [1] %}{{ l.append(2) }}"), HasSubstr("unsafe"));
  EXPECT_THAT(error_of("{{ 1 is divisibleby(0) }}"), HasSubstr("modulo by zero"));
}

TEST(ChatTemplate, DeepSourcesAreRefusedBeforeParsing) {
  std::string deep_blocks, elifs = "{% if a %}", chain = "{{ a";
  for (int i = 0; i < 5000; ++i) {
    deep_blocks += "{% if a %}";
    elifs += "{% elif a %}";
    chain += " + a";
  }
  EXPECT_THAT(error_of("{{ " + std::string(5000, '(')), HasSubstr("brackets"));
  EXPECT_THAT(error_of(deep_blocks), HasSubstr("blocks"));
  EXPECT_THAT(error_of(elifs), HasSubstr("blocks"));
  EXPECT_THAT(error_of(chain + " }}"), HasSubstr("words"));
  EXPECT_THAT(error_of(std::string(2 << 20, 'x')), HasSubstr("longer than"));
}

TEST(ChatTemplate, ThreadsShareOneTemplate) {
  const auto parsed = parse_chat_template(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ m.content }}{% endfor "
      "%}{{ ns.n }}",
      "", "");
  ASSERT_TRUE(parsed);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const ordered_json messages = ordered_json::array({{{"role", "user"}, {"content", std::to_string(i)}}});
      ChatTemplateInput input;
      input.messages = &messages;
      for (int round = 0; round < 100; ++round) EXPECT_EQ(*(*parsed)->render(input), std::to_string(i) + "1");
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(ChatTemplate, StrftimeNow) {
  EXPECT_THAT(*render("{{ strftime_now('%Y-%m') }}"), "2025-03");
}

}  // namespace
}  // namespace pagoda::text
