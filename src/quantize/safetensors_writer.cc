#include "quantize/safetensors_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::quantize {

Status write_safetensors(const std::string& path, const std::vector<SafetensorsEntry>& entries) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  size_t offset = 0;
  for (const SafetensorsEntry& entry : entries) {
    header[entry.name] = {{"dtype", entry.dtype},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, offset + entry.bytes.size()}}};
    offset += entry.bytes.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the data begin at a multiple of eight
  const auto cannot = [&] {
    return fail(ErrorCode::kResourceExhausted, format("{}: cannot write it: {}", path, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file) return cannot();
  const uint64_t length = text.size();
  bool written = std::fwrite(&length, sizeof length, 1, file.get()) == 1 &&
                 std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  for (const SafetensorsEntry& entry : entries) {
    written =
        written && std::fwrite(entry.bytes.data(), 1, entry.bytes.size(), file.get()) == entry.bytes.size();
  }
  if (!written || std::fflush(file.get()) != 0) return cannot();
  return {};
}

}  // namespace pagoda::quantize
