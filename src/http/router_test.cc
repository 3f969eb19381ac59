#include "http/router.h"

#include <gmock/gmock.h>

#include "http/request_target.h"

namespace pagoda::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Router router_of(std::initializer_list<std::pair<const char*, const char*>> routes) {
  Router router;
  for (const auto& [method, path] : routes) router.add(method, path, [](std::shared_ptr<Exchange>) {});
  return router;
}

TEST(Router, FindsByMethodAndPath) {
  const Router router = router_of({{"GET", "/"}, {"GET", "/health"}, {"POST", "/v1/completions"}});
  EXPECT_TRUE(router.find("GET", "/health").handler);
  EXPECT_EQ(router.find("GET", "/health").pattern, "/health");
  EXPECT_TRUE(router.find("GET", "/").handler);
  EXPECT_TRUE(router.find("POST", "/v1/completions/").handler) << "one slash at the end makes no difference";
  EXPECT_FALSE(router.find("GET", "/Health").handler);
  EXPECT_FALSE(router.find("GET", "//health").handler);
  EXPECT_FALSE(router.find("GET", "").handler);
  EXPECT_FALSE(router.find("GET", "health").handler);
}

TEST(Router, TellsMissingPathFromWrongMethod) {
  const Router router = router_of({{"GET", "/v1/models"}, {"POST", "/tokenize"}, {"DELETE", "/tokenize"}});
  EXPECT_THAT(router.find("GET", "/nothing").allowed_methods, IsEmpty());
  const auto get = router.find("GET", "/tokenize");
  EXPECT_FALSE(get.handler);
  EXPECT_THAT(get.allowed_methods, ElementsAre("DELETE", "OPTIONS", "POST"));
  EXPECT_EQ(get.pattern, "/tokenize") << "a 405 still counts under its route";
  EXPECT_THAT(router.find("PUT", "/v1/models").allowed_methods, ElementsAre("GET", "HEAD", "OPTIONS"));
}

TEST(Router, HeadIsServedByGetUnlessItHasARoute) {
  Router router = router_of({{"GET", "/a"}, {"POST", "/b"}});
  EXPECT_TRUE(router.find("HEAD", "/a").handler);
  EXPECT_FALSE(router.find("HEAD", "/b").handler);
  router.add("HEAD", "/a", [](std::shared_ptr<Exchange>) {});
  EXPECT_NE(router.find("HEAD", "/a").handler, router.find("GET", "/a").handler);
}

TEST(Router, TakesNamedPartsDecoded) {
  const Router router = router_of({{"POST", "/v2/models/{model}/versions/{version}/infer"}});
  const auto match = router.find("POST", "/v2/models/a%2Fb%20c/versions/3/infer");
  ASSERT_TRUE(match.handler);
  EXPECT_THAT(match.parameters, ElementsAre(Pair("model", "a/b c"), Pair("version", "3")));
  EXPECT_EQ(match.pattern, "/v2/models/{model}/versions/{version}/infer");
  EXPECT_FALSE(router.find("POST", "/v2/models//versions/3/infer").handler) << "a name is never empty";
  EXPECT_FALSE(router.find("POST", "/v2/models/%zz/versions/3/infer").handler);
}

TEST(Router, RestTakesSlashes) {
  const Router router = router_of({{"GET", "/v1/models"}, {"GET", "/v1/models/{model...}"}});
  EXPECT_THAT(router.find("GET", "/v1/models/org/name").parameters, ElementsAre(Pair("model", "org/name")));
  EXPECT_THAT(router.find("GET", "/v1/models/org%2Fname").parameters, ElementsAre(Pair("model", "org/name")));
  EXPECT_THAT(router.find("GET", "/v1/models/").parameters, IsEmpty());
}

TEST(Router, LiteralPartsWinWhateverTheOrder) {
  const Router router =
      router_of({{"GET", "/v2/models/{m}"}, {"GET", "/v2/models/stats"}, {"GET", "/v2/{rest...}"}});
  EXPECT_EQ(router.find("GET", "/v2/models/stats").pattern, "/v2/models/stats");
  EXPECT_EQ(router.find("GET", "/v2/models/llama").pattern, "/v2/models/{m}");
  EXPECT_EQ(router.find("GET", "/v2/models/llama/config").pattern, "/v2/{rest...}");
  // The literal path exists by another method only: the named one serves this method.
  const Router mixed = router_of({{"POST", "/v2/models/stats"}, {"GET", "/v2/models/{m}"}});
  EXPECT_EQ(mixed.find("GET", "/v2/models/stats").pattern, "/v2/models/{m}");
}

TEST(RouterDeathTest, RefusesAProgrammersError) {
  Router router = router_of({{"GET", "/a"}});
  const auto handler = [](std::shared_ptr<Exchange>) {};
  EXPECT_DEATH(router.add("GET", "/a", handler), "/a");
  EXPECT_DEATH(router.add("GET", "a", handler), "begins with");
  EXPECT_DEATH(router.add("GET", "/{rest...}/a", handler), "last part");
}

TEST(RequestTarget, TakesPathsAndAbsoluteForms) {
  const auto simple = parse_request_target("/v1/a%20b?x=%20&y=1#part");
  ASSERT_TRUE(simple);
  EXPECT_EQ(simple->path, "/v1/a b");
  EXPECT_EQ(simple->raw_path, "/v1/a%20b");
  EXPECT_EQ(simple->query, "x=%20&y=1");
  EXPECT_EQ(parse_request_target("http://localhost:8000/v1/models?q")->path, "/v1/models");
  EXPECT_EQ(parse_request_target("HTTP://localhost")->path, "/");
  EXPECT_EQ(parse_request_target("http://localhost?q=1")->query, "q=1");
  EXPECT_EQ(parse_request_target("*")->path, "*");
  EXPECT_EQ(parse_request_target("/a+b")->path, "/a+b");
}

TEST(RequestTarget, LosesItsRoot) {
  EXPECT_EQ(without_root("/llm/v1/models", "/llm"), "/v1/models");
  EXPECT_EQ(without_root("/llm/v1/models", "/llm/"), "/v1/models");
  EXPECT_EQ(without_root("/llm", "/llm"), "/");
  EXPECT_EQ(without_root("/llm2/v1", "/llm"), "/llm2/v1");
  EXPECT_EQ(without_root("/v1/models", "/llm"), "/v1/models");
  EXPECT_EQ(without_root("/v1/models", ""), "/v1/models");
}

TEST(RequestTarget, RefusesTheRest) {
  for (const char* bad : {"localhost:443", "v1/models", "/%", "/%4", "/%4g", "/a%00b", "ftp://x/y"})
    EXPECT_FALSE(parse_request_target(bad)) << bad;
}

TEST(Headers, IgnoreCaseAndReplaceEveryField) {
  Headers headers;
  headers.fields = {{"Content-Type", "a"}, {"content-type", "b"}, {"X", "1"}};
  EXPECT_EQ(headers.get("CONTENT-TYPE"), "a");
  EXPECT_EQ(headers.get("missing"), "");
  headers.set("CONTENT-type", "c");
  EXPECT_THAT(headers.fields, ElementsAre(Pair("X", "1"), Pair("CONTENT-type", "c")));
}

}  // namespace
}  // namespace pagoda::http
