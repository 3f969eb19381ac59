// The hashes by which a hub names its files: SHA-256 of large ones (LFS), git's SHA-1 of small ones, which is
// over "blob SIZE\0" and the content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pagoda::hub {

enum class DigestKind { kSha256, kGitSha1 };

class ContentDigest {
 public:
  // `size`: of the whole content, which git's hash begins with.
  ContentDigest(DigestKind kind, int64_t size);
  ~ContentDigest();
  ContentDigest(ContentDigest&&) noexcept;
  ContentDigest& operator=(ContentDigest&&) noexcept;

  void add(std::string_view bytes);
  std::string hexadecimal();  // once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pagoda::hub
