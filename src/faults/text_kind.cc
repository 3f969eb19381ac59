#include "faults/text_kind.h"

#include <algorithm>

#include "faults/line_time.h"

namespace pagoda::faults {
namespace {

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool is_mostly_binary(std::string_view text) {
  const auto odd = std::count_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b';
  });
  return odd * 20 > static_cast<std::ptrdiff_t>(text.size());
}

// A document, not one record a line.
bool is_json_document(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const size_t next = text.find_first_not_of(" \t\r", first + 1);
  return next == std::string_view::npos || text[next] == '\n';
}

}  // namespace

TextKind kind_of_text(std::string_view text) {
  text = text.substr(0, 65536);
  if (text.empty()) return TextKind::kEmpty;
  if (text.starts_with("LPKSHHRH")) return TextKind::kBinaryJournal;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return TextKind::kUtf16;
  if (is_mostly_binary(text)) return TextKind::kBinary;
  if (is_json_document(text)) return TextKind::kJsonDocument;
  const std::string_view line = text.substr(0, text.find('\n'));
  if (time_of_line(line).clock == LineTime::Clock::kBoot || line.starts_with("NVRM:"))
    return TextKind::kKernelLog;
  if (holds(text, " kernel: ")) return TextKind::kJournal;
  for (const std::string_view word : {"vllm", "vLLM", "torch", "[TensorRT-LLM]", "tritonserver", "NCCL",
                                      "pagoda serve", "Traceback", "RuntimeError"}) {
    if (holds(text, word)) return TextKind::kServingLog;
  }
  for (const std::string_view word : {"NVML", "NVIDIA-SMI has failed", "No devices were found"}) {
    if (holds(text, word)) return TextKind::kSmi;
  }
  return TextKind::kText;
}

std::string_view name_of(TextKind kind) {
  switch (kind) {
    case TextKind::kKernelLog:
      return "kernel log";
    case TextKind::kJournal:
      return "journal";
    case TextKind::kServingLog:
      return "serving log";
    case TextKind::kSmi:
      return "nvidia-smi output";
    case TextKind::kJsonDocument:
      return "JSON document";
    case TextKind::kBinary:
      return "binary data";
    case TextKind::kUtf16:
      return "UTF-16 text";
    case TextKind::kBinaryJournal:
      return "binary journal";
    case TextKind::kEmpty:
      return "empty";
    case TextKind::kText:
      return "text";
  }
  return "text";
}

std::string_view remark_on(TextKind kind) {
  switch (kind) {
    case TextKind::kJsonDocument:
      return "a JSON document, not a log: not read";
    case TextKind::kBinary:
      return "mostly binary data, not a log: searched for known sentences all the same";
    case TextKind::kUtf16:
      return "UTF-16 text, not read: convert it with `iconv -f UTF-16 -t UTF-8`";
    case TextKind::kBinaryJournal:
      return "a binary journal, not read: export it with `journalctl --file FILE -o short-precise`";
    case TextKind::kEmpty:
      return "empty";
    default:
      return {};
  }
}

bool is_readable(TextKind kind) {
  return kind != TextKind::kJsonDocument && kind != TextKind::kUtf16 && kind != TextKind::kBinaryJournal;
}

}  // namespace pagoda::faults
