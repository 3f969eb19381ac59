#include "hub/hub_client.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::hub {
namespace {

using Json = nlohmann::json;

constexpr int kOk = 200, kPartial = 206, kUnauthorized = 401, kForbidden = 403, kNotFound = 404,
              kRangeNotSatisfiable = 416, kTooManyRequests = 429;
constexpr int kMostRedirects = 8;
constexpr size_t kMostErrorBytes = 4096;

http::ClientOptions client_options() {
  http::ClientOptions options;
  options.silence_timeout_s = 30;
  return options;
}

// Percent-encodes what a path may not hold; `keep` besides letters, digits and "-._~".
std::string quoted(std::string_view text, std::string_view keep) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool same_origin(const http::Url& a, const http::Url& b) {
  return a.scheme == b.scheme && http::same_field_name(a.host, b.host) && a.port == b.port;
}

Result<http::Url> next_url(const http::Url& from, const std::string& location) {
  if (location.empty())
    return fail(ErrorCode::kCorruptData, format("{} redirects to nowhere", from.authority()));
  http::Url url = from;
  if (location.starts_with("//")) {
    PAGODA_ASSIGN(url, http::Url::parse(from.scheme + ":" + location));
  } else if (location.starts_with('/')) {
    url.path = location.substr(0, location.find('#'));
  } else if (location.find("://") != std::string::npos) {
    PAGODA_ASSIGN(url, http::Url::parse(location));
  } else {
    const std::string folder = from.path.substr(0, from.path.substr(0, from.path.find('?')).rfind('/') + 1);
    url.path = folder + location;
  }
  if (from.secure() && !url.secure())
    return fail(ErrorCode::kInvalidArgument,
                format("{} redirects from https to http: refused", from.authority()));
  return url;
}

// Inside its folder, and nothing that a shell, a terminal or git would take for something else.
bool is_safe_path(const std::string& path) {
  if (path.empty() || path.size() > 1024 || path[0] == '/') return false;
  if (std::any_of(path.begin(), path.end(),
                  [](char c) { return c == '\\' || static_cast<unsigned char>(c) < ' ' || c == 127; }))
    return false;
  const std::filesystem::path parts(path);
  return std::none_of(parts.begin(), parts.end(),
                      [](const auto& part) { return part.empty() || part == ".." || part == "."; });
}

bool is_safe_etag(const std::string& etag) {
  return !etag.empty() && etag.size() <= 128 && etag[0] != '.' &&
         std::all_of(etag.begin(), etag.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '_' || c == '.';
         });
}

// W/"abc" → abc.
std::string bare_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.starts_with('"')) etag.remove_prefix(1);
  if (etag.ends_with('"')) etag.remove_suffix(1);
  return std::string(etag);
}

int64_t number_of(std::string_view text) {
  int64_t value = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? value : -1;
}

// "bytes 100-199/200" → 100.
int64_t range_begin(std::string_view content_range) {
  if (!content_range.starts_with("bytes ")) return -1;
  content_range.remove_prefix(6);
  return number_of(content_range.substr(0, content_range.find('-')));
}

std::string text_at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "";
}

int64_t integer_at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number_integer()
             ? object[key].get<int64_t>()
             : -1;
}

}  // namespace

HubClient::HubClient(const HubSettings& settings) : settings_(settings), client_(client_options()) {}

Result<http::ClientRequest> HubClient::request_to(const std::string& method, const std::string& url) const {
  http::ClientRequest request;
  PAGODA_ASSIGN(request.url, http::Url::parse(url));
  request.method = method;
  request.headers.set("User-Agent", "pagoda");
  request.headers.set("Accept-Encoding", "identity");
  return request;
}

Result<http::Response> HubClient::follow(http::ClientRequest request,
                                         const http::Client::BodyCallback& on_body, http::Url* final_url) {
  PAGODA_ASSIGN(const http::Url home, http::Url::parse(settings_.endpoint));
  for (int hops = 0; hops < kMostRedirects; ++hops) {
    http::ClientRequest hop = request;
    if (!settings_.token.empty() && same_origin(hop.url, home))
      hop.headers.set("Authorization", "Bearer " + settings_.token);
    auto response = client_.stream(hop, [&](const http::Response& head, std::string_view bytes) {
      return is_redirect(head.status) || on_body(head, bytes);
    });
    if (!response || !is_redirect(response->status)) {
      if (final_url != nullptr) *final_url = request.url;
      return response;
    }
    // A HEAD answer says all that is wanted of a large file before its redirect to where the bytes are.
    if (request.method == "HEAD" && !response->headers.get("X-Linked-Etag").empty()) return response;
    PAGODA_ASSIGN(request.url, next_url(request.url, std::string(response->headers.get("Location"))));
  }
  return fail(ErrorCode::kUnavailable, format("{} redirects without an end", settings_.endpoint));
}

Error HubClient::refusal(const http::Response& response, const std::string& model,
                         const std::string& what) const {
  const std::string_view code = response.headers.get("X-Error-Code");
  const std::string said(response.headers.get("X-Error-Message"));
  const std::string page = settings_.endpoint + "/" + model;
  switch (response.status) {
    case kUnauthorized:
      if (!settings_.token.empty())
        return {ErrorCode::kUnauthorized,
                format("{}: {} does not accept the token of {}, or there is no such model", model,
                       settings_.endpoint, settings_.token_origin),
                "model"};
      return {ErrorCode::kUnauthorized,
              format("{}: no such model at {}, or a private one: check the name, or set HF_TOKEN", model,
                     settings_.endpoint),
              "model"};
    case kForbidden:
      return {ErrorCode::kUnauthorized,
              code == "GatedRepo" || settings_.token.empty()
                  ? format("{}: access must be asked for at {}; then set HF_TOKEN to a token of that account",
                           model, page)
                  : format("{}: the token of {} may not read it{}", model, settings_.token_origin,
                           said.empty() ? "" : " (" + said + ")"),
              "model"};
    case kNotFound:
      if (code == "RepoNotFound" || what.empty())
        return {ErrorCode::kNotFound, format("{}: no such model at {}", model, settings_.endpoint), "model"};
      return {ErrorCode::kNotFound, format("{} has no {}", model, what), "model"};
    default:
      return {response.status >= 500 || response.status == kTooManyRequests ? ErrorCode::kUnavailable
                                                                            : ErrorCode::kInvalidArgument,
              format("{} answered {} for {}{}", settings_.endpoint, response.status, model,
                     said.empty() ? "" : ": " + said),
              "model"};
  }
}

Result<RemoteListing> HubClient::list(const std::string& model, const std::string& revision) {
  PAGODA_ASSIGN(auto request, request_to("GET", format("{}/api/models/{}/revision/{}?blobs=true",
                                                       settings_.endpoint, model, quoted(revision, ""))));
  std::string body;
  PAGODA_ASSIGN(const auto response, follow(std::move(request), [&](const auto&, std::string_view bytes) {
                  body += bytes;
                  return body.size() < (size_t{64} << 20);
                }));
  if (response.status != kOk) {
    const bool has_revision = response.headers.get("X-Error-Code") == "RevisionNotFound";
    return Unexpected(refusal(response, model, has_revision ? format("revision '{}'", revision) : ""));
  }
  const Json answer = Json::parse(body, nullptr, false);
  RemoteListing listing;
  listing.commit = text_at(answer, "sha");
  if (!is_safe_etag(listing.commit) || !answer.contains("siblings") || !answer["siblings"].is_array())
    return fail(ErrorCode::kCorruptData,
                format("{} does not speak a hub's protocol: no list of files came for {}", settings_.endpoint,
                       model));
  for (const Json& sibling : answer["siblings"]) {
    RemoteFile file;
    file.path = text_at(sibling, "rfilename");
    if (!is_safe_path(file.path))
      return fail(ErrorCode::kCorruptData, format("{}: the hub lists a file outside of its folder", model));
    const Json lfs = sibling.is_object() && sibling.contains("lfs") ? sibling["lfs"] : Json();
    file.size = integer_at(sibling, "size");
    file.etag = text_at(lfs, "sha256");
    if (file.etag.empty()) file.etag = text_at(lfs, "oid");
    if (file.etag.empty()) file.etag = text_at(sibling, "blobId");
    listing.files.push_back(std::move(file));
  }
  for (RemoteFile& file : listing.files) {
    if (file.etag.empty() || file.size < 0) PAGODA_TRY(complete(model, listing.commit, file));
    if (!is_safe_etag(file.etag) || file.size < 0)
      return fail(ErrorCode::kCorruptData, format("{}: the hub tells no hash of {}", model, file.path));
  }
  return listing;
}

// A hub that lists names only tells hash and size of each file when it is asked for its head.
Status HubClient::complete(const std::string& model, const std::string& revision, RemoteFile& file) {
  PAGODA_ASSIGN(auto request, request_to("HEAD", format("{}/{}/resolve/{}/{}", settings_.endpoint, model,
                                                        quoted(revision, ""), quoted(file.path, "/"))));
  PAGODA_ASSIGN(const auto head, follow(std::move(request), [](const auto&, auto) { return true; }));
  if (head.status != kOk && !is_redirect(head.status))
    return Unexpected(refusal(head, model, "file " + file.path));
  const std::string_view linked = head.headers.get("X-Linked-Etag");
  file.etag = bare_etag(linked.empty() ? head.headers.get("ETag") : linked);
  file.size =
      number_of(linked.empty() ? head.headers.get("Content-Length") : head.headers.get("X-Linked-Size"));
  return {};
}

Status HubClient::read(const std::string& model, const std::string& commit, const RemoteFile& file,
                       int64_t offset, const Begin& begin, const Take& take) {
  PAGODA_ASSIGN(auto request, request_to("GET", format("{}/{}/resolve/{}/{}", settings_.endpoint, model,
                                                       quoted(commit, ""), quoted(file.path, "/"))));
  if (offset > 0) request.headers.set("Range", format("bytes={}-", offset));
  Status fault;
  bool begun = false;
  const auto start = [&](const http::Response& head) -> Status {
    begun = true;
    const int64_t at = head.status == kPartial ? range_begin(head.headers.get("Content-Range")) : 0;
    if (at != offset && at != 0)
      return fail(ErrorCode::kUnavailable, format("{}: the server sent another range than asked", file.path));
    return begin(at);
  };
  size_t error_bytes = 0;
  const auto on_body = [&](const http::Response& head, std::string_view bytes) {
    if (head.status != kOk && head.status != kPartial) return (error_bytes += bytes.size()) < kMostErrorBytes;
    if (!begun) fault = start(head);
    if (fault) fault = take(bytes);
    return fault.has_value();
  };
  PAGODA_ASSIGN(const auto head, follow(std::move(request), on_body));
  PAGODA_TRY(std::move(fault));
  if (head.status == kRangeNotSatisfiable)
    return fail(ErrorCode::kCorruptData,
                format("{}: the part that is here is longer than the file", file.path));
  if (head.status != kOk && head.status != kPartial)
    return Unexpected(refusal(head, model, "file " + file.path));
  return begun ? Status() : start(head);
}

}  // namespace pagoda::hub
