// What a hub is asked: which files a revision has, and their bytes. Redirects are followed; the token goes to
// the endpoint's own host only. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/client.h"
#include "hub/hub_settings.h"

namespace pagoda::hub {

struct RemoteFile {
  std::string path;  // relative, checked: it stays inside its folder
  std::string etag;  // 64 hexadecimal digits: SHA-256; 40: git's SHA-1; something else: unknown
  int64_t size = -1;
};

struct RemoteListing {
  std::string commit;
  std::vector<RemoteFile> files;
};

class HubClient {
 public:
  explicit HubClient(const HubSettings& settings);

  // Every file of the revision with its hash and size, and the commit that it stands for.
  Result<RemoteListing> list(const std::string& model, const std::string& revision);

  // The bytes of a file from `offset` on. `begin` is called before the first byte with the offset that the
  // server really begins at: 0 where it does not know ranges. Errors: kNotFound, kUnauthorized and
  // kInvalidArgument will stay; kUnavailable may go away by trying again.
  using Begin = std::function<Status(int64_t offset)>;
  using Take = std::function<Status(std::string_view bytes)>;
  Status read(const std::string& model, const std::string& commit, const RemoteFile& file, int64_t offset,
              const Begin& begin, const Take& take);

 private:
  Result<http::ClientRequest> request_to(const std::string& method, const std::string& url) const;
  Result<http::Response> follow(http::ClientRequest request, const http::Client::BodyCallback& on_body,
                                http::Url* final_url = nullptr);
  Status complete(const std::string& model, const std::string& revision, RemoteFile& file);
  Error refusal(const http::Response& response, const std::string& model, const std::string& what) const;

  const HubSettings settings_;
  http::Client client_;
};

}  // namespace pagoda::hub
