// Takes secrets out of texts before they leave the machine: keys, tokens, passwords, credentials in
// addresses, private keys, serial numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::faults {

// For one thread. A private key may span calls: lines come in order.
class Redaction {
 public:
  Redaction();
  ~Redaction();
  Redaction(const Redaction&) = delete;
  Redaction& operator=(const Redaction&) = delete;

  // The text with every secret replaced by "[removed]".
  std::string clean(std::string_view text);
  int64_t removed() const { return removed_; }

 private:
  std::string clean_line(std::string_view line);

  struct Rules;
  std::unique_ptr<Rules> rules_;
  bool in_private_key_ = false;
  int64_t removed_ = 0;
};

}  // namespace pagoda::faults
