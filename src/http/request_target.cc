#include "http/request_target.h"

#include "base/format.h"
#include "http/message.h"

namespace pagoda::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "http://host:1/path" → "/path"; nullopt where there is no such scheme.
std::optional<std::string_view> after_authority(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_field_name(target.substr(0, scheme.size()), scheme)) continue;
    const size_t path = target.find_first_of("/?", scheme.size());
    return path == std::string_view::npos ? std::string_view() : target.substr(path);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

Result<RequestTarget> parse_request_target(std::string_view target) {
  if (target == "*") return RequestTarget{"*", "*", ""};
  if (const auto rest = after_authority(target)) target = *rest;
  target = target.substr(0, target.find('#'));
  RequestTarget parsed;
  if (const size_t mark = target.find('?'); mark != std::string_view::npos) {
    parsed.query = target.substr(mark + 1);
    target = target.substr(0, mark);
  }
  if (target.empty()) target = "/";
  if (target.front() != '/')
    return fail(ErrorCode::kInvalidArgument, "the request target must be a path that begins with '/'");
  auto path = percent_decode(target);
  if (!path) {
    return fail(ErrorCode::kInvalidArgument,
                "the request path has a '%' that is not followed by two hex digits, or %00");
  }
  parsed.raw_path = target;
  parsed.path = std::move(*path);
  return parsed;
}

std::string_view without_root(std::string_view path, std::string_view root) {
  while (root.ends_with('/')) root.remove_suffix(1);
  if (root.empty() || !path.starts_with(root)) return path;
  const std::string_view rest = path.substr(root.size());
  if (rest.empty()) return "/";
  return rest.starts_with('/') ? rest : path;
}

}  // namespace pagoda::http
