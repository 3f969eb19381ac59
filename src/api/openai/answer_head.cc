#include "api/openai/answer_head.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "base/format.h"

namespace pagoda::api {
namespace {

constexpr size_t kMaxIdLength = 256;

// Ids come back in JSON and in log lines: printable ASCII without spaces is what they may hold.
bool usable(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdLength &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

std::string random_id() {
  std::random_device source;
  std::string id;
  for (int i = 0; i < 4; ++i) id += format("{:08x}", source());
  return id;
}

AnswerHead make_answer_head(AnswerKind kind, const http::Request& request, std::string_view request_id_field,
                            const std::string& model_name) {
  const std::string_view header = request.headers.get("X-Request-Id");
  std::string id;
  if (usable(header))
    id = header;
  else if (usable(request_id_field))
    id = request_id_field;
  else
    id = random_id();
  AnswerHead head;
  head.kind = kind;
  head.id = (kind == AnswerKind::kChat ? "chatcmpl-" : "cmpl-") + id;
  head.created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  head.model = model_name;
  return head;
}

}  // namespace pagoda::api
