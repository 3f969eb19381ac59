#include "base/base64.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace {

// The examples of RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(*decode_base64(text), bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(*decode_base64(encode_base64(all)), all);
  EXPECT_FALSE(decode_base64("Zg*="));
}

}  // namespace
}  // namespace pagoda
