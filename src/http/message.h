// HTTP messages, as handlers see them. No schema of any API is known here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::http {

// Field names are ASCII and their case does not matter.
bool same_field_name(std::string_view a, std::string_view b);

struct Headers {
  std::vector<std::pair<std::string, std::string>> fields;
  // The first field of that name; empty when absent.
  std::string_view get(std::string_view name) const;
  // Takes the place of every field of that name.
  void set(std::string name, std::string value);
};

struct Request {
  std::string method;  // "GET"
  std::string path;    // decoded, without the query
  std::string query;   // after '?', as sent
  Headers headers;
  std::string body;
  std::string peer;                                             // "127.0.0.1:53412"
  std::string id;                                               // X-Request-Id of the client, or made here
  std::vector<std::pair<std::string, std::string>> parameters;  // {name} parts of the route
};

struct Response {
  int status = 200;
  Headers headers;
  std::string content_type = "application/json";
  std::string body;
};

// One request's way back. Any thread may call it; calls are ordered. A handler keeps it alive by the
// shared_ptr and answers when it can: respond() once, or begin_stream() … send() … end(). To drop the last
// reference without an answer is a 500, or cuts a stream off so that the client sees that it is not whole.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  virtual void respond(Response response) = 0;
  virtual void begin_stream(Response head) = 0;  // head.body is ignored
  // Dropped in silence when the client has gone. What is queued while a write is under way goes out in one
  // write.
  virtual void send(std::string chunk) = 0;
  // The last chunk and the stream's end go out together: a client that closes as soon as it has read what it
  // takes for the end is not one that left too early.
  virtual void end(std::string last_chunk = {}) = 0;
  // Called once, on an I/O thread, when the client goes away before the answer ended (or reads so slowly that
  // its backlog passes the limit); at once, on the caller's thread, if it has gone already. A client that
  // shuts down its sending side counts as gone. Never called after respond() or end().
  virtual void on_disconnect(std::function<void()> callback) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace pagoda::http
