#include "app/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/flag_help.h"
#include "app/flag_values.h"

namespace pagoda::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A small table with every kind of flag.
struct Fields {
  std::string model;
  int port = 8000;
  int64_t length = 0;
  double share = 0.9;
  bool caching = true;
  std::vector<std::string> names;
  nlohmann::ordered_json json;
  int level = 0;
  std::string config;
};

Flag row(std::string_view name, Takes takes, Setter set, std::vector<std::string_view> aliases = {}) {
  Flag flag;
  flag.name = name;
  flag.group = "Test";
  flag.takes = takes;
  flag.value_name = takes == Takes::kNothing ? "" : "VALUE";
  flag.help = "what it does";
  flag.set = std::move(set);
  flag.aliases = std::move(aliases);
  return flag;
}

FlagTable table_of(Fields& fields) {
  FlagTable table;
  table.usage = "test [MODEL]";
  table.positional = "model";
  table.config = "config";
  table.flags = {
      row("model", Takes::kValue, to_text(&fields.model)),
      row("config", Takes::kValue, to_text(&fields.config)),
      row("port", Takes::kValue, to_integer(&fields.port, {0, 65535}), {"p"}),
      row("max-model-len", Takes::kValue, to_human_integer(&fields.length, {1, 1 << 30})),
      row("memory-share", Takes::kValue, to_number(&fields.share, {.above = 0, .max = 1}), {"ms"}),
      row("enable-caching", Takes::kNothing, to_switch(&fields.caching)),
      row("names", Takes::kValues, to_texts(&fields.names)),
      row("some-config", Takes::kJson, to_json_object(&fields.json), {"sc"}),
      row("level", Takes::kValue, to_integer(&fields.level, {0, 3}), {"O"}),
  };
  Flag ignored = row("eager", Takes::kNothing, {});
  ignored.standing = Standing::kWithoutMeaning;
  ignored.reason = "nothing to be eager about";
  Flag refused = row("tensor-parallel-size", Takes::kValue, {}, {"tp"});
  refused.standing = Standing::kNotYet;
  refused.reason = "one device only";
  refused.harmless = {"1"};
  table.flags.push_back(ignored);
  table.flags.push_back(refused);
  return table;
}

class Flags : public testing::Test {
 protected:
  Result<ParsedFlags> parse(std::vector<std::string> arguments) {
    fields_ = Fields{};
    return parse_flags(table_of(fields_), arguments);
  }
  std::string error_of(std::vector<std::string> arguments) {
    const auto parsed = parse(std::move(arguments));
    return parsed ? "no error" : parsed.error().message;
  }
  std::string yaml(const std::string& text) {
    const std::string path = testing::TempDir() + "flags_test_" + std::to_string(::getpid()) + ".yaml";
    std::ofstream(path) << text;
    return path;
  }

  Fields fields_;
};

TEST_F(Flags, TakesEverySpelling) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--max-model-len", "8k"}, {"--max_model_len", "8k"}, {"--max-model_len=8k"}}) {
    ASSERT_TRUE(parse(words)) << words[0];
    EXPECT_EQ(fields_.length, 8000) << words[0];
  }
  ASSERT_TRUE(parse({"-p", "1", "-ms=0.5", "-O3"}));
  EXPECT_EQ(fields_.port, 1);
  EXPECT_EQ(fields_.share, 0.5);
  EXPECT_EQ(fields_.level, 3);
}

TEST_F(Flags, SwitchesGoBothWays) {
  ASSERT_TRUE(parse({"--no-enable-caching"}));
  EXPECT_FALSE(fields_.caching);
  ASSERT_TRUE(parse({"--no_enable_caching", "--enable-caching"}));
  EXPECT_TRUE(fields_.caching) << "the last one counts";
  ASSERT_TRUE(parse({"--enable-caching=False"}));
  EXPECT_FALSE(fields_.caching);
  ASSERT_TRUE(parse({"--enable-caching", "false", "m.gguf"}));
  EXPECT_FALSE(fields_.caching);
  EXPECT_EQ(fields_.model, "m.gguf");
  ASSERT_TRUE(parse({"--enable-caching", "m.gguf"}));
  EXPECT_EQ(fields_.model, "m.gguf") << "a switch takes no other word";
  EXPECT_THAT(error_of({"--enable-caching=maybe"}),
              HasSubstr("--enable-caching: 'maybe' is neither true nor false"));
  EXPECT_THAT(error_of({"--no-enable-caching=true"}), HasSubstr("takes no value"));
  EXPECT_THAT(error_of({"--no-port"}), HasSubstr("unknown flag --no-port"));
}

TEST_F(Flags, ListsRepeatAndRunOn) {
  ASSERT_TRUE(parse({"--names", "a", "b", "--port", "1", "--names=c"}));
  EXPECT_THAT(fields_.names, ElementsAre("a", "b", "c"));
  ASSERT_TRUE(parse({"--names", R"(["x", "y"])"}));
  EXPECT_THAT(fields_.names, ElementsAre("x", "y"));
  EXPECT_THAT(error_of({"--names", "[1]"}), HasSubstr("--names"));
}

TEST_F(Flags, JsonComesWholeOrInPieces) {
  ASSERT_TRUE(parse({"--some-config", R"({"a": 1})"}));
  EXPECT_EQ(fields_.json.dump(), R"({"a":1})");
  ASSERT_TRUE(parse({"--some_config.method", "ngram", "--some-config.num_tokens=4", "-sc.deep.er", "8k"}));
  EXPECT_EQ(fields_.json.dump(), R"({"method":"ngram","num_tokens":4,"deep":{"er":8000}})");
  ASSERT_TRUE(parse({"--some-config.list+", "a,b", "--some-config.list+=c", "--some-config",
                     R"({"x": {"y": 1}})", "--some-config.x.z", "true"}));
  EXPECT_EQ(fields_.json.dump(), R"({"x":{"y":1,"z":true},"list":["a","b","c"]})");
  EXPECT_THAT(error_of({"--some-config", "{"}), HasSubstr("--some-config: '{' is not a JSON object"));
  EXPECT_THAT(error_of({"--port.x", "1"}), HasSubstr("its value has no parts"));
  EXPECT_THAT(error_of({"--some-config..x", "1"}), HasSubstr("empty key"));
}

TEST_F(Flags, ErrorsNameFlagValueAndRange) {
  EXPECT_THAT(error_of({"--port", "abc"}), HasSubstr("--port: 'abc' is not a whole number from 0 to 65535"));
  EXPECT_THAT(error_of({"--port", "70000"}), HasSubstr("--port: 70000 is out of range"));
  EXPECT_THAT(error_of({"--memory-share", "0"}), HasSubstr("expected a number above 0 up to 1"));
  EXPECT_THAT(error_of({"--memory-share", "nan"}), HasSubstr("'nan' is not a number"));
  EXPECT_THAT(error_of({"--port"}), HasSubstr("--port needs a value: VALUE"));
  EXPECT_THAT(error_of({"--port", "--names", "a"}), HasSubstr("--port needs a value"));
  EXPECT_THAT(error_of({"a", "b"}), HasSubstr("two arguments where one"));
}

TEST_F(Flags, UnknownOnesGetTheNearest) {
  EXPECT_THAT(error_of({"--prot", "1"}), HasSubstr("unknown flag --prot; did you mean --port?"));
  EXPECT_THAT(error_of({"--max_model_length", "1"}), HasSubstr("did you mean --max-model-len?"));
  EXPECT_THAT(error_of({"--zzzzzz"}), HasSubstr("--help lists"));
}

TEST_F(Flags, StandingDecides) {
  const auto ignored = parse({"--eager"});
  ASSERT_TRUE(ignored);
  EXPECT_THAT(ignored->warnings, ElementsAre("--eager has no effect here: nothing to be eager about"));
  EXPECT_TRUE(parse({"-tp", "1"}));
  const auto refused = parse({"-tp", "2"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().message, "--tensor-parallel-size 2: one device only");
}

TEST_F(Flags, TheConfigFileYieldsToTheCommandLine) {
  const std::string path = yaml(
      "model: from-file.gguf\n"
      "port: 1234\n"
      "names: [a, b]\n"
      "enable_caching: false\n"
      "max-model-len: null\n"
      "some-config:\n  method: ngram\n  tokens: 3\n  quoted: '7'\n");
  ASSERT_TRUE(parse({"--config", path}));
  EXPECT_EQ(fields_.model, "from-file.gguf");
  EXPECT_EQ(fields_.port, 1234);
  EXPECT_THAT(fields_.names, ElementsAre("a", "b"));
  EXPECT_FALSE(fields_.caching);
  EXPECT_EQ(fields_.length, 0);
  EXPECT_EQ(fields_.json.dump(), R"({"method":"ngram","tokens":3,"quoted":"7"})");
  ASSERT_TRUE(parse({"mine.gguf", "--port=1", "--config", path, "--names", "c"}));
  EXPECT_EQ(fields_.model, "mine.gguf");
  EXPECT_EQ(fields_.port, 1);
  EXPECT_THAT(fields_.names, ElementsAre("c"));
}

TEST_F(Flags, ConfigFileFaultsNameTheLine) {
  EXPECT_THAT(error_of({"--config", yaml("port: 1\nprot: 2\n")}),
              HasSubstr(":2: unknown flag prot; did you mean port?"));
  EXPECT_THAT(error_of({"--config", yaml("port: [1, 2]\n")}), HasSubstr(":1: port takes one value"));
  EXPECT_THAT(error_of({"--config", yaml("port: [1\n")}), HasSubstr("not valid YAML"));
  EXPECT_THAT(error_of({"--config", yaml("- port\n")}), HasSubstr("not a YAML map"));
  EXPECT_THAT(error_of({"--config", yaml("config: other.yaml\n")}), HasSubstr("cannot name another"));
  EXPECT_THAT(error_of({"--config", yaml("port: x\n")}), HasSubstr("--port: 'x' is not"));
  EXPECT_THAT(error_of({"--config", "/nowhere.yaml"}),
              HasSubstr("cannot read the config file /nowhere.yaml"));
  EXPECT_THAT(error_of({"--config", testing::TempDir()}), HasSubstr("cannot read the config file"));
  EXPECT_TRUE(parse({"--config", yaml("")}));
}

TEST_F(Flags, HelpSetsNothing) {
  const auto parsed = parse({"--port", "1", "--help=log"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->help, "log");
  EXPECT_EQ(fields_.port, 8000);
}

TEST_F(Flags, HelpNarrows) {
  const FlagTable table = table_of(fields_);
  const Paint plain(false);
  const std::string whole = help_text(table, "", plain, 100);
  EXPECT_THAT(whole, HasSubstr("Usage: test [MODEL]"));
  EXPECT_THAT(whole, HasSubstr("-ms, --memory-share VALUE"));
  EXPECT_THAT(whole, Not(HasSubstr("one device only")));
  EXPECT_THAT(help_text(table, "all", plain, 100), HasSubstr("one device only"));
  EXPECT_THAT(help_text(table, "max_model", plain, 100), HasSubstr("--max-model-len"));
  EXPECT_THAT(help_text(table, "max_model", plain, 100), Not(HasSubstr("--port")));
  EXPECT_THAT(help_text(table, "xyz", plain, 100),
              HasSubstr("No group and no flag matches 'xyz'. Groups: Test"));
}

TEST(HumanInteger, ReadsAsTheReferenceDoes) {
  EXPECT_EQ(human_integer("8192"), 8192);
  EXPECT_EQ(human_integer("1k"), 1000);
  EXPECT_EQ(human_integer("1K"), 1024);
  EXPECT_EQ(human_integer("25.6k"), 25600);
  EXPECT_EQ(human_integer("2M"), 2 << 20);
  EXPECT_EQ(human_integer("1T"), int64_t{1} << 40);
  for (const char* text : {"", "k", "1.5", "25.6K", "-1k", "1kk", "1 k", "0x10", "99999999999T"}) {
    EXPECT_FALSE(human_integer(text)) << text;
  }
  EXPECT_THAT(human_integer("25.6K").error().message, HasSubstr("did you mean 25.6k?"));
}

}  // namespace
}  // namespace pagoda::app
