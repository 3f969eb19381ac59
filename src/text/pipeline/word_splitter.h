// The second stage of a tokenizer.json: a normalised text is cut into the words that the model encodes one by
// one. Immutable, safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/pipeline/json_part.h"

namespace pagoda::text {

struct Word {
  std::string text;              // never empty
  bool begins_the_text = false;  // nothing of the original stands before it
};

class SplitterStep {
 public:
  virtual ~SplitterStep() = default;
  // Appends what the word becomes.
  virtual void split(Word word, std::vector<Word>& out) const = 0;
};

class WordSplitter {
 public:
  // null: a text is one word. kUnsupported names the pre-tokenizer that is not there.
  static Result<WordSplitter> make(const Json& part);

  // Appends the words of a text.
  void split(Word text, std::vector<Word>& out) const;

 private:
  std::vector<std::unique_ptr<SplitterStep>> steps_;
};

}  // namespace pagoda::text
