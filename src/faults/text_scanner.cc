#include "faults/text_scanner.h"

#include <algorithm>
#include <cstring>

#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/newlines.h"
#include "faults/reading_rules.h"

namespace pagoda::faults {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kLookaheadBytes = 4096;          // for sentences that go on in the next lines
constexpr size_t kLongestLine = size_t{1} << 18;  // longer ones are read in pieces
constexpr size_t kWindowBytes = 8192;             // of a line, around what was found in it
constexpr size_t kMostGpusAtOnce = 64;            // of a series, before they are handed on
constexpr int kMostJoinedLines = 6;

}  // namespace

TextScanner::TextScanner(const PatternMatcher& matcher, Records& records, std::string source_name)
    : matcher_(matcher), records_(records) {
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
  read_block(has_line ? newline + 1 : limit);
  return true;
}

void TextScanner::finish() {
  if (!kind_is_known_) kind_ = kind_of_text(buffer_);
  kind_is_known_ = true;
  if (is_readable(kind_) && !buffer_.empty()) {
    const bool open_line = buffer_.back() != '\n';
    read_block(buffer_.size());
    if (open_line) ++line_;
  }
  end_section();
  summary_.lines = line_ - 1;
  if (kind_ == TextKind::kKernelLog || kind_ == TextKind::kJournal) records_.has_kernel_log = true;
}

void TextScanner::read_block(size_t end) {
  const std::string_view block(buffer_.data(), end);
  matcher_.scan(block, hits_);
  size_t at = 0, hit = 0;
  while (at < end) {
    if (section_ != nullptr) {
      at = read_section_line(at, end);
      continue;
    }
    while (hit < hits_.size() && hits_[hit].end <= at) ++hit;
    if (hit == hits_.size()) break;
    at = read_hit_line(block, at, hit);
  }
  line_ += count_newlines(block.substr(at));
  buffer_.erase(0, end);
}

size_t TextScanner::read_section_line(size_t from, size_t end) {
  const size_t newline = std::min(buffer_.find('\n', from), end);
  const std::string_view line =
      std::string_view(buffer_).substr(from, std::min(newline - from, kWindowBytes));
  if (!section_->take(line, line_)) {
    end_section();
    return from;
  }
  if (section_->is_series() && section_->snapshot.gpus.size() >= kMostGpusAtOnce) hand_on_snapshot();
  if (newline == end) return end;
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

// Reads the line that holds the next hit; returns where the next line begins.
size_t TextScanner::read_hit_line(std::string_view block, size_t from, size_t& hit) {
  const size_t last_byte = hits_[hit].end - 1;
  const size_t before = block.rfind('\n', last_byte);
  const size_t begin = before == std::string_view::npos || before < from ? from : before + 1;
  const size_t end = std::min(block.find('\n', last_byte), block.size());
  line_ += count_newlines(block.substr(from, begin - from));
  const std::string_view line = block.substr(begin, end - begin);
  rows_.clear();
  bool marked = false;
  for (; hit < hits_.size() && hits_[hit].end <= end; ++hit) {
    marked = marked || matcher_.is_mark(hits_[hit].literal);
    const auto& rows = matcher_.rows_of(hits_[hit].literal);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  if (marked) section_ = begin_section(line.substr(0, kWindowBytes), line_);
  if (section_ == nullptr && !rows_.empty()) read_line(line, last_byte - begin, end);
  if (end == block.size()) return end;
  ++line_;
  return end + 1;
}

// The part of a very long line that surrounds what was found.
std::string_view TextScanner::window_of(std::string_view line, size_t at) const {
  if (line.size() <= kWindowBytes) return line;
  return line.substr(at < kWindowBytes / 4 ? 0 : at - kWindowBytes / 4, kWindowBytes);
}

void TextScanner::read_line(std::string_view whole, size_t at, size_t line_end) {
  std::sort(rows_.begin(), rows_.end());
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  std::string_view line = window_of(whole, at);
  std::string clean;
  if (line.find('\x1b') != std::string_view::npos) line = clean = without_escapes(line);
  for (const uint32_t row : rows_) {
    const LogPattern& pattern = PatternMatcher::patterns()[row];
    Fields fields;
    const bool found = pattern.wrapped ? matcher_.match(row, joined_sentence(line, line_end), fields)
                                       : matcher_.match(row, line, fields);
    if (!found) continue;
    const FaultRow* fault = read_event(pattern, fields);
    if (fault == nullptr) continue;
    add_event(fault, std::move(fields), line);
    return;
  }
}

// "NVRM: The NVIDIA GPU … \nNVRM: installed in this system is …" as one sentence.
std::string TextScanner::joined_sentence(std::string_view line, size_t line_end) const {
  std::string sentence(line);
  const std::string_view text(buffer_);
  for (int joined = 0; joined < kMostJoinedLines && line_end < text.size(); ++joined) {
    const size_t begin = line_end + 1;
    if (begin >= text.size()) break;
    line_end = std::min(text.find('\n', begin), text.size());
    const std::string_view next = text.substr(begin, std::min<size_t>(line_end - begin, 400));
    const size_t mark = next.substr(0, 160).find("NVRM:");
    if (mark == std::string_view::npos) break;
    sentence += ' ';
    sentence += trimmed(next.substr(mark + 5));
  }
  return sentence;
}

void TextScanner::add_event(const FaultRow* fault, Fields fields, std::string_view line) {
  Event event;
  event.fault = fault;
  event.fields = std::move(fields);
  event.when = time_of_line(line);
  if (event.when.clock == LineTime::Clock::kBoot) {
    if (event.when.seconds + 30 < boot_seconds_) ++boot_;
    boot_seconds_ = event.when.seconds;
    event.when.boot = boot_;
  }
  event.evidence = {summary_.name, line_, std::string(event.when.text), evidence_text(line)};
  event.when.text = {};
  if (event.when.clock == LineTime::Clock::kBoot || line.find("NVRM:") != std::string_view::npos) {
    records_.has_kernel_log = true;
    note_kind("kernel log");
  }
  records_.events.add(std::move(event));
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
