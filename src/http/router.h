// Method and path → handler. Immutable once the server runs.
//
// A path is literal parts and {name} parts between slashes: "/v2/models/{model}/infer". A last part {name...}
// takes the rest of the path, slashes included ("/v1/models/{model...}" for "org/name"). Where several routes
// fit, the one with the earlier literal part wins, whatever the order of add(). One slash at the end makes no
// difference. A route for GET also serves HEAD; OPTIONS is allowed on every path that exists.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace pagoda::http {

class Router {
 public:
  // A programmer's error, checked: a path that does not begin with '/', a {name...} part that is not the
  // last, or a method and path added twice.
  void add(std::string method, std::string path, Handler handler);

  struct Match {
    const Handler* handler = nullptr;          // nullptr: no such path, or not by this method
    std::vector<std::string> allowed_methods;  // of the path, sorted; empty: no such path (404, else 405)
    std::vector<std::pair<std::string, std::string>> parameters;  // percent-decoded
    std::string_view pattern;  // the route as added, for metrics; empty when no such path
  };
  // `path` as it was sent, still percent-encoded, without the query: %2F is part of a name, not a border.
  // Literal parts are compared decoded.
  Match find(std::string_view method, std::string_view path) const;

 private:
  enum class PartKind { kLiteral, kName, kRest };  // in the order in which they are preferred
  struct Part {
    PartKind kind;
    std::string text;
  };
  struct Route {
    std::string method, path;
    std::vector<Part> parts;
    Handler handler;
  };
  static std::vector<Part> split_pattern(std::string_view path);
  static bool fits(const Route& route, const std::vector<std::string>& parts);
  static void take_parameters(const Route& route, std::vector<std::string> parts, Match& match);
  static bool preferred(const Route& a, const Route& b);

  std::vector<Route> routes_;  // sorted: the first that fits is the one
};

}  // namespace pagoda::http
