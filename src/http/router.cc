#include "http/router.h"

#include <algorithm>

#include "base/check.h"
#include "http/request_target.h"

namespace pagoda::http {
namespace {

// "/a/b/" → "a", "b"; "/" → none. Pieces may be empty in the middle ("/a//b").
std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> pieces;
  if (path.ends_with('/')) path.remove_suffix(1);
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash before the piece
    const size_t end = std::min(path.find('/'), path.size());
    pieces.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return pieces;
}

void insert_sorted(std::vector<std::string>& names, const std::string& name) {
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place == names.end() || *place != name) names.insert(place, name);
}

}  // namespace

std::vector<Router::Part> Router::split_pattern(std::string_view path) {
  PAGODA_CHECK(path.starts_with('/'), "a route's path begins with '/'");
  std::vector<Part> parts;
  for (std::string_view piece : split_path(path)) {
    PAGODA_CHECK(parts.empty() || parts.back().kind != PartKind::kRest, "{name...} must be the last part");
    if (!piece.starts_with('{') || !piece.ends_with('}')) {
      parts.push_back({PartKind::kLiteral, std::string(piece)});
    } else if (piece.ends_with("...}")) {
      parts.push_back({PartKind::kRest, std::string(piece.substr(1, piece.size() - 5))});
    } else {
      parts.push_back({PartKind::kName, std::string(piece.substr(1, piece.size() - 2))});
    }
  }
  return parts;
}

bool Router::preferred(const Route& a, const Route& b) {
  return std::lexicographical_compare(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                                      [](const Part& x, const Part& y) { return x.kind < y.kind; });
}

void Router::add(std::string method, std::string path, Handler handler) {
  Route route{std::move(method), std::move(path), {}, std::move(handler)};
  route.parts = split_pattern(route.path);
  for (const Route& other : routes_) {
    PAGODA_CHECK(other.method != route.method || other.path != route.path, route.path.c_str());
  }
  routes_.insert(std::upper_bound(routes_.begin(), routes_.end(), route, preferred), std::move(route));
}

bool Router::fits(const Route& route, const std::vector<std::string>& parts) {
  const bool takes_rest = !route.parts.empty() && route.parts.back().kind == PartKind::kRest;
  if (takes_rest ? parts.size() < route.parts.size() : parts.size() != route.parts.size()) return false;
  for (size_t i = 0; i < route.parts.size(); ++i) {
    const Part& part = route.parts[i];
    if (part.kind == PartKind::kLiteral ? part.text != parts[i] : parts[i].empty()) return false;
  }
  return true;
}

void Router::take_parameters(const Route& route, std::vector<std::string> parts, Match& match) {
  for (size_t i = 0; i < route.parts.size(); ++i) {
    const Part& part = route.parts[i];
    if (part.kind == PartKind::kLiteral) continue;
    std::string value = std::move(parts[i]);
    if (part.kind == PartKind::kRest) {
      for (size_t j = i + 1; j < parts.size(); ++j) value += "/" + parts[j];
    }
    match.parameters.emplace_back(part.text, std::move(value));
  }
}

Router::Match Router::find(std::string_view method, std::string_view path) const {
  Match match;
  if (!path.starts_with('/')) return match;
  std::vector<std::string> parts;
  for (std::string_view piece : split_path(path)) {
    auto decoded = percent_decode(piece);
    if (!decoded) return match;
    parts.push_back(std::move(*decoded));
  }
  const Route* exact = nullptr;
  const Route* get = nullptr;
  for (const Route& route : routes_) {
    if (!fits(route, parts)) continue;
    if (match.pattern.empty()) match.pattern = route.path;
    insert_sorted(match.allowed_methods, route.method);
    if (!exact && route.method == method) exact = &route;
    if (!get && route.method == "GET") get = &route;
  }
  if (match.allowed_methods.empty()) return match;
  if (get) insert_sorted(match.allowed_methods, "HEAD");
  insert_sorted(match.allowed_methods, "OPTIONS");
  const Route* chosen = !exact && method == "HEAD" ? get : exact;
  if (!chosen) return match;
  match.handler = &chosen->handler;
  match.pattern = chosen->path;
  take_parameters(*chosen, std::move(parts), match);
  return match;
}

}  // namespace pagoda::http
