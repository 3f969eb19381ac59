#include "app/doctor_report.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::app {
namespace {

using faults::Severity;

constexpr size_t kEvidenceShown = 3;  // of one finding
constexpr size_t kFindingsShown = 8;  // of one story

// Columns that a terminal needs for UTF-8 text, as far as wrapping cares: one a character.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Words wrapped at `width`, each line after `indent` spaces; the first line's indent is the caller's.
std::string wrapped(std::string_view text, size_t indent, int width) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    const size_t columns = columns_of(word);
    if (column > indent && column + 1 + columns > static_cast<size_t>(width)) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return out;
}

Ink ink_of(Severity severity) {
  return severity == Severity::kFault     ? Ink::kRed
         : severity == Severity::kWarning ? Ink::kYellow
                                          : Ink::kCyan;
}

std::string_view mark_of(Severity severity) {
  switch (severity) {
    case Severity::kFault:
      return "✗ FAULT";
    case Severity::kWarning:
      return "! WARNING";
    default:
      return "· NOTE";
  }
}

std::string plural(size_t count, std::string_view word) {
  return format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "GPU 0000:3b:00 · step 1 (presence) · confidence high · drain the node"
std::string heading(const faults::Story& story) {
  const faults::FaultRow& root = *story.findings.front().fault;
  std::string text = story.gpu.empty() ? "this node" : format("GPU {}", story.gpu);
  text += format(" · step {} ({}) · confidence {}", static_cast<int>(root.step), name_of(root.step),
                 name_of(story.confidence));
  return text + (story.drain ? " · drain the node" : " · no drain");
}

void add_actions(const faults::Story& story, const Paint& paint, int width, std::string& out) {
  if (story.actions.empty()) return;
  out += "    " + paint(Ink::kBold, "What to do") + "\n";
  for (size_t i = 0; i < story.actions.size(); ++i) {
    const faults::Action& action = story.actions[i];
    out += format("      {}. {}\n", i + 1, wrapped(action.text, 9, width));
    std::string_view commands = action.command;
    while (!commands.empty()) {
      const size_t end = commands.find('\n');
      out += "         " + paint(Ink::kCyan, format("$ {}", commands.substr(0, end))) + "\n";
      commands = end == std::string_view::npos ? std::string_view() : commands.substr(end + 1);
    }
  }
}

std::string place_of(const faults::Evidence& evidence) {
  return evidence.line > 0 ? format("{}:{}", evidence.source, evidence.line) : evidence.source;
}

void add_evidence(const faults::Finding& finding, const Paint& paint, int width, std::string& out) {
  const size_t shown = std::min(kEvidenceShown, finding.events.size());
  for (size_t i = 0; i < shown; ++i) {
    const faults::Evidence& evidence = finding.events[i].evidence;
    out += "      " + paint(Ink::kDim, place_of(evidence)) + "\n";
    out += "        " + wrapped(evidence.text, 8, width) + "\n";
  }
  const int64_t more = finding.count - static_cast<int64_t>(shown);
  if (more > 0) {
    const faults::Evidence& last = finding.events.back().evidence;
    out += "      " + paint(Ink::kDim, format("and {} more, the last at {}", more, place_of(last))) + "\n";
  }
}

void add_story(const faults::Story& story, const Paint& paint, int width, std::string& out) {
  out += format("{}  {}\n", paint(ink_of(story.severity), mark_of(story.severity)),
                paint(Ink::kDim, heading(story)));
  out += "    " + paint(Ink::kBold, wrapped(story.cause, 4, width)) + "\n";
  add_actions(story, paint, width, out);
  out += "    " + paint(Ink::kBold, "Evidence") + "\n";
  for (size_t i = 0; i < std::min(kFindingsShown, story.findings.size()); ++i)
    add_evidence(story.findings[i], paint, width, out);
  if (story.findings.size() > kFindingsShown)
    out +=
        format("      and {} with --json\n", plural(story.findings.size() - kFindingsShown, "more finding"));
  out += "\n";
}

std::string verdict(const faults::Report& report, const Paint& paint) {
  std::array<size_t, 4> counts{};
  for (const faults::Story& story : report.stories) ++counts[static_cast<size_t>(story.severity)];
  const size_t fault = counts[3], warning = counts[2], note = counts[1];
  if (fault + warning + note == 0) {
    const bool anything = std::any_of(report.sources.begin(), report.sources.end(),
                                      [](const auto& s) { return s.lines > 0; }) ||
                          !report.observations.empty();
    return anything ? paint(Ink::kGreen, "✓ nothing wrong found")
                    : "nothing to judge: the input holds no text";
  }
  std::string text;
  const auto add = [&](size_t count, std::string_view word, Severity severity) {
    if (count > 0) text += (text.empty() ? "" : ", ") + paint(ink_of(severity), plural(count, word));
  };
  add(fault, "fault", Severity::kFault);
  add(warning, "warning", Severity::kWarning);
  add(note, "note", Severity::kNote);
  return text;
}

void add_rest(const faults::Report& report, const Paint& paint, int width, std::string& out) {
  if (!report.observations.empty()) out += paint(Ink::kBold, "Seen") + "\n";
  for (const faults::Observation& seen : report.observations)
    out += "  " + wrapped(format("{}: {}", seen.subject, seen.text), 4, width) + "\n";
  constexpr size_t kSourcesShown = 20;
  if (!report.sources.empty()) out += paint(Ink::kBold, "Read") + "\n";
  for (size_t i = 0; i < std::min(kSourcesShown, report.sources.size()); ++i) {
    const faults::SourceSummary& source = report.sources[i];
    std::string line =
        format("{}: {}, {}", source.name, source.kind, plural(static_cast<size_t>(source.lines), "line"));
    if (!source.remark.empty()) line += " (" + source.remark + ")";
    out += "  " + wrapped(line, 4, width) + "\n";
  }
  if (report.sources.size() > kSourcesShown)
    out += format("  and {} more\n", report.sources.size() - kSourcesShown);
  if (!report.gaps.empty()) out += paint(Ink::kBold, "Not looked at") + "\n";
  for (const std::string& gap : report.gaps) out += "  " + wrapped(gap, 4, width) + "\n";
}

}  // namespace

std::string report_as_text(const faults::Report& report, const Paint& paint, int width) {
  std::string out = format("{}: {}\n\n", paint(Ink::kBold, "pagoda doctor"), verdict(report, paint));
  for (const faults::Story& story : report.stories) add_story(story, paint, width, out);
  add_rest(report, paint, width, out);
  return out;
}

}  // namespace pagoda::app
