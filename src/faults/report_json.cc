#include "faults/report_json.h"

#include <nlohmann/json.hpp>

#include "faults/remedies.h"

namespace pagoda::faults {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json json_of(const Evidence& evidence) {
  Json json;
  json["source"] = evidence.source;
  json["line"] = evidence.line > 0 ? Json(evidence.line) : Json(nullptr);
  json["time"] = text_or_null(evidence.time);
  json["text"] = evidence.text;
  return json;
}

Json json_of(const Finding& finding, bool is_root) {
  Json json;
  json["id"] = finding.fault->id;
  json["role"] = is_root ? "cause" : "consequence";
  json["step"] = static_cast<int>(finding.fault->step);
  json["step_name"] = name_of(finding.fault->step);
  json["severity"] = name_of(finding.severity);
  json["confidence"] = name_of(finding.confidence);
  json["title"] = finding.fault->title;
  json["cause"] = finding.cause;
  json["drain"] = finding.drain;
  json["count"] = finding.count;
  json["fields"] = Json::object();
  for (const auto& [name, value] : finding.fields.all()) json["fields"][name] = value;
  json["remedy"] = Json::array();
  for (const std::string& key : finding.remedies) {
    const Remedy* remedy = find_remedy(key);
    if (remedy == nullptr) continue;
    json["remedy"].push_back({{"id", key},
                              {"text", fill(remedy->text, finding.fields)},
                              {"command", text_or_null(fill(remedy->command, finding.fields))}});
  }
  json["evidence"] = Json::array();
  for (const Event& event : finding.events) json["evidence"].push_back(json_of(event.evidence));
  return json;
}

}  // namespace

nlohmann::ordered_json story_as_json(const Story& story) {
  Json json;
  json["severity"] = name_of(story.severity);
  json["confidence"] = name_of(story.confidence);
  json["gpu"] = text_or_null(story.gpu);
  json["cause"] = story.cause;
  json["drain"] = story.drain;
  json["actions"] = Json::array();
  for (const Action& action : story.actions)
    json["actions"].push_back({{"text", action.text}, {"command", text_or_null(action.command)}});
  json["findings"] = Json::array();
  for (size_t i = 0; i < story.findings.size(); ++i)
    json["findings"].push_back(json_of(story.findings[i], i == 0));
  return json;
}

std::string report_as_json(const Report& report) {
  Json json;
  json["schema"] = kReportSchema;
  json["severity"] = name_of(report.severity());
  json["stories"] = Json::array();
  for (const Story& story : report.stories) json["stories"].push_back(story_as_json(story));
  json["observations"] = Json::array();
  for (const Observation& seen : report.observations) {
    json["observations"].push_back(
        {{"step", static_cast<int>(seen.step)}, {"subject", seen.subject}, {"text", seen.text}});
  }
  json["sources"] = Json::array();
  for (const SourceSummary& source : report.sources) {
    json["sources"].push_back({{"name", source.name},
                               {"kind", source.kind},
                               {"lines", source.lines},
                               {"bytes", source.bytes},
                               {"remark", text_or_null(source.remark)}});
  }
  json["gaps"] = report.gaps;
  // Names of files may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pagoda::faults
