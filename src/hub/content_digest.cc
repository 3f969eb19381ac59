#include "hub/content_digest.h"

#include <openssl/evp.h>

#include "base/check.h"
#include "base/format.h"

namespace pagoda::hub {

struct ContentDigest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

ContentDigest::ContentDigest(DigestKind kind, int64_t size) : state_(std::make_unique<State>()) {
  const EVP_MD* method = kind == DigestKind::kSha256 ? EVP_sha256() : EVP_sha1();
  PAGODA_CHECK(state_->context != nullptr && EVP_DigestInit_ex(state_->context, method, nullptr) == 1,
               "the hash is part of every OpenSSL");
  if (kind == DigestKind::kGitSha1) {
    const std::string head = format("blob {}", size);
    add({head.c_str(), head.size() + 1});  // with the zero at its end
  }
}

ContentDigest::~ContentDigest() = default;
ContentDigest::ContentDigest(ContentDigest&&) noexcept = default;
ContentDigest& ContentDigest::operator=(ContentDigest&&) noexcept = default;

void ContentDigest::add(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string ContentDigest::hexadecimal() {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, value, &length);
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += format("{:02x}", value[i]);
  return text;
}

}  // namespace pagoda::hub
