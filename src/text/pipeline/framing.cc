#include "text/pipeline/framing.h"

#include <algorithm>

namespace pagoda::text {

Result<Framing> Framing::make(const Json& part) {
  Framing framing;
  if (part.is_null()) return framing;
  const std::string type = json_text(part, "type");
  std::vector<const Json*> steps;
  if (type == "Sequence") {
    for (const Json& step : json_child(part, "processors")) steps.push_back(&step);
  } else {
    steps.push_back(&part);
  }
  int framed = 0;
  for (const Json* step : steps) {
    const std::string kind = json_text(*step, "type");
    if (kind == "ByteLevel") continue;  // changes offsets alone
    if (++framed > 1) return unsupported_part("post-processor", part);
    if (kind == "TemplateProcessing") {
      PAGODA_TRY(framing.read_template(*step));
    } else if (kind == "BertProcessing" || kind == "RobertaProcessing") {
      PAGODA_TRY(framing.read_ends(*step, kind == "RobertaProcessing"));
    } else {
      return unsupported_part("post-processor", *step);
    }
  }
  return framing;
}

Result<std::vector<Framing::Item>> Framing::items_of(const Json& list, const Json& special_tokens) {
  std::vector<Item> items;
  for (const Json& entry : list) {
    const Json& sequence = json_child(entry, "Sequence");
    const Json& special = json_child(entry, "SpecialToken");
    const auto type = static_cast<int32_t>(
        json_integer(sequence.is_null() ? special : sequence, "type_id", 0) & 0x7fffffff);
    if (!sequence.is_null()) {
      const bool first = json_text(sequence, "id") == "A";
      items.push_back({first ? Item::Kind::kFirst : Item::Kind::kSecond, -1, type});
      continue;
    }
    const Json& ids = json_child(json_child(special_tokens, json_text(special, "id")), "ids");
    if (!ids.is_array()) return unsupported_part("post-processor", entry);
    for (const Json& id : ids) {
      if (!id.is_number_integer()) return unsupported_part("post-processor", entry);
      items.push_back({Item::Kind::kToken, static_cast<int32_t>(id.get<int64_t>() & 0x7fffffff), type});
    }
  }
  return items;
}

Status Framing::read_template(const Json& part) {
  const Json& special_tokens = json_child(part, "special_tokens");
  PAGODA_ASSIGN(single_, items_of(json_child(part, "single"), special_tokens));
  PAGODA_ASSIGN(pair_, items_of(json_child(part, "pair"), special_tokens));
  return {};
}

// [CLS] A [SEP], [CLS] A [SEP] B [SEP]; RoBERTa's has two separators between, and one type.
Status Framing::read_ends(const Json& part, bool doubled) {
  const auto id_of = [&](const char* key) -> int32_t {
    const Json& pair = json_child(part, key);
    const bool known = pair.is_array() && pair.size() == 2 && pair[1].is_number_integer();
    return known ? static_cast<int32_t>(pair[1].get<int64_t>() & 0x7fffffff) : -1;
  };
  const int32_t begin = id_of("cls"), end = id_of("sep");
  if (begin < 0 || end < 0) return unsupported_part("post-processor", part);
  using Kind = Item::Kind;
  single_ = {{Kind::kToken, begin, 0}, {Kind::kFirst, -1, 0}, {Kind::kToken, end, 0}};
  pair_ = single_;
  const int32_t second_type = doubled ? 0 : 1;
  if (doubled) pair_.push_back({Kind::kToken, end, 0});
  pair_.push_back({Kind::kSecond, -1, second_type});
  pair_.push_back({Kind::kToken, end, second_type});
  return {};
}

std::vector<int32_t> Framing::frame(std::vector<int32_t> text) const {
  if (single_.size() == 1) return text;
  std::vector<int32_t> out;
  out.reserve(text.size() + single_.size());
  for (const Item& item : single_) {
    if (item.kind == Item::Kind::kToken) {
      out.push_back(item.token);
    } else {
      out.insert(out.end(), text.begin(), text.end());
    }
  }
  return out;
}

TokenPair Framing::frame(std::span<const int32_t> first, std::span<const int32_t> second) const {
  TokenPair out;
  for (const Item& item : pair_) {
    const std::span<const int32_t> tokens = item.kind == Item::Kind::kToken   ? std::span(&item.token, 1)
                                            : item.kind == Item::Kind::kFirst ? first
                                                                              : second;
    out.tokens.insert(out.tokens.end(), tokens.begin(), tokens.end());
    out.types.resize(out.tokens.size(), item.type);
  }
  return out;
}

int32_t Framing::largest() const {
  int32_t largest = -1;
  for (const auto* items : {&single_, &pair_}) {
    for (const Item& item : *items) largest = std::max(largest, item.token);
  }
  return largest;
}

int32_t Framing::before() const {
  return single_.empty() ? -1 : single_.front().token;
}

int32_t Framing::behind() const {
  return single_.empty() ? -1 : single_.back().token;
}

}  // namespace pagoda::text
