// Method and path → handler. Paths may hold {name} parts. Immutable once the server runs.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace pagoda::http {

class Router {
 public:
  void add(std::string method, std::string path, Handler handler);

  struct Match {
    const Handler* handler = nullptr;            // nullptr: no such path, or not by this method
    std::vector<std::string> allowed_methods;    // non-empty: the path exists (405)
    std::vector<std::pair<std::string, std::string>> parameters;
    std::string_view pattern;                    // the route as added, for metrics; empty when none
  };
  Match find(std::string_view method, std::string_view path) const;

 private:
  struct Route {
    std::string method, path;
    std::vector<std::string> parts;
    Handler handler;
  };
  std::vector<Route> routes_;
};

}  // namespace pagoda::http
