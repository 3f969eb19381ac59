// encode_texts MODEL [--plain-special] [--add-special] [--pre NAME]: MODEL is a GGUF file, a folder, a
// tokenizer.json or a tokenizer.model. Reads texts from stdin, each a uint32 length and
// its bytes, and writes per text a uint32 count, the int32 ids, a uint32 length and the bytes that the ids
// decode to. All little-endian.
// --pre puts another name into tokenizer.ggml.pre. The time that encoding took goes to stderr. For
// tests/text/compare_tokenizers.py.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/hugging_face/sentence_piece_model.h"
#include "model/hugging_face/tokenizer_json.h"
#include "model/weight_source.h"
#include "text/tokenizer.h"

namespace {

bool read_text(std::string& text) {
  uint32_t length = 0;
  if (std::fread(&length, sizeof length, 1, stdin) != 1) return false;
  text.resize(length);
  return std::fread(text.data(), 1, length, stdin) == length;
}

template <class T>
void write_array(const T* data, size_t count) {
  const auto length = static_cast<uint32_t>(count);
  std::fwrite(&length, sizeof length, 1, stdout);
  std::fwrite(data, sizeof(T), count, stdout);
}

int encode_all(const pagoda::text::Tokenizer& tokenizer, const pagoda::text::EncodeOptions& options) {
  using Clock = std::chrono::steady_clock;
  Clock::duration spent{};
  size_t bytes = 0;
  for (std::string text; read_text(text); bytes += text.size()) {
    const auto begin = Clock::now();
    const std::vector<int32_t> ids = tokenizer.encode(text, options);
    spent += Clock::now() - begin;
    write_array(ids.data(), ids.size());
    const std::string decoded = tokenizer.decode(ids, false);
    write_array(decoded.data(), decoded.size());
  }
  const double seconds = std::chrono::duration<double>(spent).count();
  std::fprintf(stderr, "%zu bytes in %.3f s: %.1f MB/s\n", bytes, seconds,
               static_cast<double>(bytes) / 1e6 / seconds);
  return 0;
}

using pagoda::model::WeightMetadata;

// The tokenizer's keys of a model; `keeper` owns the texts that they point to.
struct Keeper {
  std::unique_ptr<pagoda::model::WeightSource> source;
  pagoda::model::TextStore texts;
};

pagoda::Result<WeightMetadata> metadata_of(const std::string& path, Keeper& keeper) {
  if (path.ends_with(".model")) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    WeightMetadata metadata;
    PAGODA_TRY(pagoda::model::read_sentence_piece_model(bytes, 0, keeper.texts, metadata));
    return metadata;
  }
  if (!path.ends_with(".json")) {
    PAGODA_ASSIGN(keeper.source, pagoda::model::open_weights(path));
    return keeper.source->metadata();
  }
  WeightMetadata metadata;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  PAGODA_TRY(pagoda::model::read_tokenizer_json(json, 0, keeper.texts, metadata));
  return metadata;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: encode_texts MODEL [--plain-special] [--add-special] [--pre NAME] < texts > ids\n");
    return 2;
  }
  pagoda::text::EncodeOptions options;
  options.add_special = false;
  const char* pre = nullptr;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--plain-special") == 0) options.parse_special = false;
    if (std::strcmp(argv[i], "--add-special") == 0) options.add_special = true;
    if (std::strcmp(argv[i], "--pre") == 0 && i + 1 < argc) pre = argv[++i];
  }
  Keeper keeper;
  auto read = metadata_of(argv[1], keeper);
  if (!read) {
    std::fprintf(stderr, "%s\n", read.error().message.c_str());
    return 1;
  }
  WeightMetadata metadata = std::move(*read);
  if (pre != nullptr) metadata.set("tokenizer.ggml.pre", std::string_view(pre));
  const auto begin = std::chrono::steady_clock::now();
  const auto tokenizer = pagoda::text::load_tokenizer(metadata);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  const std::chrono::duration<double> loading = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "tokenizer loaded in %.3f s\n", loading.count());
  return encode_all(**tokenizer, options);
}
