#include "http/sse.h"

#include <gmock/gmock.h>

namespace pagoda::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> data_of(SseSplitter& splitter, std::string_view bytes) {
  std::vector<std::string> data;
  auto fed = splitter.feed(bytes);
  for (auto& event : *fed) data.push_back(std::move(event.data));
  return data;
}

TEST(SseSplitter, SplitsWhateverTheCuts) {
  const std::string stream =
      "\xef\xbb\xbf: a comment\ndata: {\"a\":1}\n\ndata:no space\r\n\r\nevent: error\rid: 7\rretry: 5\rdata: "
      " two\rdata\r"
      "data: lines\r\runknown: x\ndata: [DONE]\n\ndata: cut off";
  for (size_t step = 1; step <= stream.size(); ++step) {
    SseSplitter splitter;
    std::vector<SseEvent> events;
    for (size_t at = 0; at < stream.size(); at += step) {
      auto fed = splitter.feed(std::string_view(stream).substr(at, step));
      for (auto& event : *fed) events.push_back(std::move(event));
    }
    ASSERT_EQ(events.size(), 4u) << step;
    EXPECT_EQ(events[0].data, "{\"a\":1}");
    EXPECT_EQ(events[0].type, "");
    EXPECT_EQ(events[1].data, "no space");
    EXPECT_EQ(events[2].data, " two\n\nlines");
    EXPECT_EQ(events[2].type, "error");
    EXPECT_EQ(events[3].data, "[DONE]");
  }
}

TEST(SseSplitter, AnEventWithoutDataIsNone) {
  SseSplitter splitter;
  EXPECT_THAT(data_of(splitter, "\n\nevent: x\n\n: ping\n\n"), IsEmpty());
  EXPECT_THAT(data_of(splitter, "data\n\n"), ElementsAre(""));
  EXPECT_EQ(splitter.feed("data: y\n\n")->at(0).type, "") << "the type does not outlive its event";
}

TEST(SseSplitter, RefusesAnEndlessEvent) {
  SseSplitter splitter;
  const std::string piece(16 << 20, 'x');
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(splitter.feed(piece));
  EXPECT_EQ(splitter.feed(piece).error().code, ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace pagoda::http
