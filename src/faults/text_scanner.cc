#include "faults/text_scanner.h"

#include <algorithm>
#include <utility>

#include "faults/newlines.h"
#include "faults/reading_rules.h"

namespace pagoda::faults {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kLookaheadBytes = 4096;          // for sentences that go on in the next lines
constexpr size_t kLongestLine = size_t{1} << 18;  // longer ones are read in pieces
constexpr size_t kSectionLineBytes = 8192;        // of a line of an nvidia-smi output
constexpr size_t kMostGpusAtOnce = 64;            // of a series, before they are handed on

}  // namespace

TextScanner::TextScanner(const PatternMatcher& matcher, Records& records, std::string source_name)
    : blocks_(matcher), records_(records) {
  summary_.name = std::move(source_name);
}

TextScanner::~TextScanner() = default;

bool TextScanner::feed(std::string_view bytes) {
  summary_.bytes += static_cast<int64_t>(bytes.size());
  buffer_ += bytes;
  if (buffer_.size() < kBlockBytes) return true;
  if (!kind_is_known_) kind_ = kind_of_text(buffer_);
  kind_is_known_ = true;
  if (!is_readable(kind_)) {
    buffer_.clear();
    return false;
  }
  const size_t limit = buffer_.size() - kLookaheadBytes;
  const size_t newline = buffer_.rfind('\n', limit);
  const bool has_line = newline != std::string::npos && newline + kLongestLine > limit;
  put_block(has_line ? newline + 1 : limit, false);
  return true;
}

void TextScanner::put_block(size_t end, bool alone) {
  if (blocks_.is_full()) read_next_block();
  std::string rest = buffer_.substr(end);
  blocks_.put({std::exchange(buffer_, std::move(rest)), end, {}}, alone);
}

void TextScanner::finish() {
  if (!kind_is_known_) kind_ = kind_of_text(buffer_);
  kind_is_known_ = true;
  const bool open_line = !buffer_.empty() && buffer_.back() != '\n';
  if (is_readable(kind_) && !buffer_.empty()) put_block(buffer_.size(), buffer_.size() < kBlockBytes);
  read_all_blocks();
  if (is_readable(kind_) && open_line) ++line_;
  end_section();
  summary_.lines = line_ - 1;
  if (kind_ == TextKind::kKernelLog || kind_ == TextKind::kJournal) records_.has_kernel_log = true;
}

// Puts the next recognised block into its place: outputs are read line by line, sentences become events.
bool TextScanner::read_next_block() {
  auto block = blocks_.take();
  if (!block) return false;
  const std::string_view own = std::string_view(block->text).substr(0, block->end);
  auto line = block->recognised.lines.begin();
  const auto last = block->recognised.lines.end();
  size_t at = 0;
  while (at < own.size()) {
    if (section_ != nullptr) {
      at = read_section_line(own, at);
      continue;
    }
    while (line != last && line->begin < at) ++line;
    if (line == last) break;
    at = read_recognised(*block, at, *line);
  }
  line_ += count_newlines(own.substr(at));
  return true;
}

void TextScanner::read_all_blocks() {
  while (read_next_block()) continue;
}

size_t TextScanner::read_section_line(std::string_view own, size_t from) {
  const size_t newline = std::min(own.find('\n', from), own.size());
  if (!section_->take(own.substr(from, std::min(newline - from, kSectionLineBytes)), line_)) {
    end_section();
    return from;
  }
  if (section_->is_series() && section_->snapshot.gpus.size() >= kMostGpusAtOnce) hand_on_snapshot();
  if (newline == own.size()) return newline;
  ++line_;
  return newline + 1;
}

void TextScanner::hand_on_snapshot() {
  Snapshot& snapshot = section_->snapshot;
  records_.machine.add(snapshot);
  judge_snapshot(snapshot, summary_.name, [&](Event event) { records_.events.add(std::move(event)); });
  snapshot.gpus.clear();
}

void TextScanner::end_section() {
  if (section_ == nullptr) return;
  section_->finish();
  note_kind(section_->snapshot.kind);
  hand_on_snapshot();
  section_ = nullptr;
}

// Reads a recognised line; returns where the next line begins.
size_t TextScanner::read_recognised(TextBlock& block, size_t from, RecognisedLine& line) {
  const std::string_view own = std::string_view(block.text).substr(0, block.end);
  line_ += count_newlines(own.substr(from, line.begin - from));
  const std::string_view whole = own.substr(line.begin, line.end - line.begin);
  if (line.marked) section_ = begin_section(whole.substr(0, kSectionLineBytes), line_);
  if (section_ == nullptr && line.fault != nullptr) add_event(whole, line, block.recognised.keys[line.key]);
  if (line.end == own.size()) return line.end;
  ++line_;
  return line.end + 1;
}

void TextScanner::add_event(std::string_view whole, RecognisedLine& line, std::string_view key) {
  const bool has_boot_clock = line.when.clock == LineTime::Clock::kBoot;
  if (has_boot_clock) {
    if (line.when.seconds + 30 < boot_seconds_) ++boot_;
    boot_seconds_ = line.when.seconds;
    line.when.boot = boot_;
  }
  if (line.only_counted) return records_.events.count_one_more(key);
  if (has_boot_clock || whole.find("NVRM:") != std::string_view::npos) {
    records_.has_kernel_log = true;
    note_kind("kernel log");
  }
  Event event;
  event.fault = line.fault;
  event.fields = std::move(line.fields);
  event.evidence = {summary_.name, line_, std::move(line.time), std::move(line.evidence)};
  event.when = line.when;
  records_.events.add(std::move(event), key);
}

void TextScanner::note_kind(std::string_view kind) {
  if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end() && kinds_.size() < 12)
    kinds_.emplace_back(kind);
}

SourceSummary TextScanner::summary() const {
  SourceSummary result = summary_;
  const std::string own(name_of(kind_));
  std::string kinds;
  for (const std::string& kind : kinds_) kinds += (kinds.empty() ? "" : ", ") + kind;
  const bool own_is_news = kinds.empty() || (kind_ != TextKind::kText && kind_ != TextKind::kBinary &&
                                             kinds.find(own) == std::string::npos);
  result.kind = kinds.empty() ? own : own_is_news ? own + ", " + kinds : kinds;
  result.remark = remark_on(kind_);
  return result;
}

}  // namespace pagoda::faults
