#include "faults/line_recogniser.h"

#include <algorithm>
#include <unordered_map>

#include "faults/event_log.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr size_t kWindowBytes = 8192;  // of a line, around what was found in it
constexpr int kMostJoinedLines = 6;

// The part of a very long line that surrounds what was found.
std::string_view window_of(std::string_view line, size_t at) {
  if (line.size() <= kWindowBytes) return line;
  return line.substr(at < kWindowBytes / 4 ? 0 : at - kWindowBytes / 4, kWindowBytes);
}

// "NVRM: The NVIDIA GPU … \nNVRM: installed in this system is …" as one sentence.
std::string joined_sentence(std::string_view line, std::string_view text, size_t line_end) {
  std::string sentence(line);
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

// Where a kernel stamp can only be: looking for another kind of stamp takes longer than the rest.
bool may_have_boot_stamp(std::string_view line) {
  return line.starts_with('[') || line.starts_with('<');
}

void take_time(std::string_view line, RecognisedLine& result) {
  result.when = time_of_line(line);
  result.time = result.when.text;
  result.when.text = {};
}

}  // namespace

LineRecogniser::LineRecogniser(const PatternMatcher& matcher)
    : matcher_(matcher), scratch_(matcher.make_scratch()) {}

RecognisedBlock LineRecogniser::recognise(std::string_view text, size_t end) {
  RecognisedBlock block;
  const std::string_view own = text.substr(0, end);
  matcher_.scan(own, *scratch_, hits_);
  for (size_t hit = 0; hit < hits_.size();) {
    const size_t last_byte = hits_[hit].end - 1;
    const size_t before = own.rfind('\n', last_byte);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const size_t line_end = std::min(own.find('\n', last_byte), own.size());
    rows_.clear();
    bool marked = false;
    for (; hit < hits_.size() && hits_[hit].end <= line_end; ++hit) {
      marked = marked || matcher_.is_mark(hits_[hit].literal);
      const auto& rows = matcher_.rows_of(hits_[hit].literal);
      rows_.insert(rows_.end(), rows.begin(), rows.end());
    }
    RecognisedLine line = read_line(text, begin, line_end, last_byte - begin);
    line.marked = marked;
    if (line.marked || line.fault != nullptr) block.lines.push_back(std::move(line));
  }
  thin_out(text, block);
  return block;
}

RecognisedLine LineRecogniser::read_line(std::string_view text, size_t begin, size_t line_end, size_t at) {
  RecognisedLine result;
  result.begin = begin;
  result.end = line_end;
  if (rows_.empty()) return result;
  std::sort(rows_.begin(), rows_.end());
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  const std::string_view whole = text.substr(begin, line_end - begin);
  std::string_view line = window_of(whole, at);
  std::string clean;
  if (line.find('\x1b') != std::string_view::npos) line = clean = without_escapes(line);
  for (const uint32_t row : rows_) {
    const LogPattern& pattern = PatternMatcher::patterns()[row];
    Fields fields;
    const bool found = pattern.wrapped
                           ? matcher_.match(row, joined_sentence(line, text, line_end), *scratch_, fields)
                           : matcher_.match(row, line, *scratch_, fields);
    if (!found) continue;
    result.fault = read_event(pattern, fields);
    if (result.fault == nullptr) continue;
    result.fields = std::move(fields);
    if (!clean.empty() || line.size() != whole.size()) {
      take_time(line, result);
      result.evidence = evidence_text(line);
    }
    return result;
  }
  return result;
}

void LineRecogniser::thin_out(std::string_view text, RecognisedBlock& block) const {
  struct Group {
    uint32_t key = 0;
    size_t total = 0, seen = 0;
  };
  std::unordered_map<std::string, uint32_t> ids(block.lines.size() / 4 + 1);
  std::vector<Group> groups;
  for (RecognisedLine& line : block.lines) {
    if (line.fault == nullptr) continue;
    std::string key = EventLog::key_of(*line.fault, line.fields);
    const auto [place, is_new] = ids.try_emplace(std::move(key), static_cast<uint32_t>(groups.size()));
    if (is_new) {
      groups.push_back({place->second, 0, 0});
      block.keys.push_back(place->first);
    }
    line.key = place->second;
    ++groups[line.key].total;
  }
  for (RecognisedLine& line : block.lines) {
    if (line.fault == nullptr) continue;
    Group& group = groups[line.key];
    const size_t place = group.seen++;
    const std::string_view whole = text.substr(line.begin, line.end - line.begin);
    line.only_counted = place >= EventLog::kKept && place + EventLog::kKept < group.total;
    if (line.evidence.empty()) {
      if (!line.only_counted || may_have_boot_stamp(whole)) take_time(whole, line);
      if (!line.only_counted) line.evidence = evidence_text(whole);
    }
    if (line.only_counted) line.fields = {};
  }
}

}  // namespace pagoda::faults
