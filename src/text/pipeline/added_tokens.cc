#include "text/pipeline/added_tokens.h"

#include <algorithm>

#include "text/reference_characters.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

constexpr int64_t kMostTokens = 1 << 24;

// The last character before `at`.
Utf8Char character_before(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return first_utf8_char(text.substr(begin, at - begin));
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  const bool word_before = begin > 0 && is_word_character(character_before(text, begin).code_point);
  const bool word_after =
      end < text.size() && is_word_character(first_utf8_char(text.substr(end)).code_point);
  return !word_before && !word_after;
}

size_t skip_space_before(std::string_view text, size_t at) {
  while (at > 0) {
    const Utf8Char character = character_before(text, at);
    if (!character.valid || !is_white_space(character.code_point)) break;
    at -= static_cast<size_t>(character.length);
  }
  return at;
}

size_t skip_space_after(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char character = first_utf8_char(text.substr(at));
    if (!character.valid || !is_white_space(character.code_point)) break;
    at += static_cast<size_t>(character.length);
  }
  return at;
}

}  // namespace

Result<AddedTokens> AddedTokens::make(const Json& list, const Normalizer& normalizer) {
  AddedTokens made;
  for (const Json& entry : list) {
    AddedToken token;
    const int64_t id = json_integer(entry, "id", -1);
    token.content = json_text(entry, "content");
    if (id < 0 || id >= kMostTokens || !json_child(entry, "content").is_string())
      return fail(ErrorCode::kCorruptData, "tokenizer.json: an entry of added_tokens lacks id or content");
    token.id = static_cast<int32_t>(id);
    token.special = json_flag(entry, "special", false);
    token.single_word = json_flag(entry, "single_word", false);
    token.left_strip = json_flag(entry, "lstrip", false);
    token.right_strip = json_flag(entry, "rstrip", false);
    token.normalized = json_flag(entry, "normalized", !token.special);
    made.tokens_.push_back(std::move(token));
  }
  std::stable_sort(made.tokens_.begin(), made.tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  made.raw_ = made.finder_of(false, normalizer);
  made.normalized_ = made.finder_of(true, normalizer);
  return made;
}

AddedTokens::Finder AddedTokens::finder_of(bool normalized, const Normalizer& normalizer) const {
  Finder finder;
  std::vector<AddedTokenTrie::Entry> all, plain;
  for (const AddedToken& token : tokens_) {
    if (token.normalized != normalized || token.content.empty()) continue;
    const std::string& content =
        finder.contents.emplace_back(normalized ? normalizer.apply(token.content) : token.content);
    all.push_back({content, token.id});
    if (!token.special) plain.push_back({content, token.id});
  }
  finder.with_special.emplace_back(std::move(all));
  finder.without_special.emplace_back(std::move(plain));
  return finder;
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found =
      std::lower_bound(tokens_.begin(), tokens_.end(), id,
                       [](const AddedToken& token, int32_t wanted) { return token.id < wanted; });
  return found != tokens_.end() && found->id == id ? &*found : nullptr;
}

std::vector<AddedTokens::Part> AddedTokens::parts_of(std::string_view text,
                                                     const AddedTokenTrie& trie) const {
  std::vector<Part> parts;
  size_t done = 0;
  for (size_t from = 0; from < text.size();) {
    const AddedTokenTrie::Match match = trie.find(text, from);
    if (match.token < 0) break;
    const AddedToken& token = *find(match.token);
    size_t begin = match.begin, end = match.begin + match.length;
    from = end;
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.left_strip) begin = std::max(done, skip_space_before(text, begin));
    if (token.right_strip) end = skip_space_after(text, end);
    if (begin > done) parts.push_back({-1, text.substr(done, begin - done)});
    parts.push_back({token.id, text.substr(begin, end - begin)});
    done = std::max(done, end);
    from = done;
  }
  if (done < text.size()) parts.push_back({-1, text.substr(done)});
  return parts;
}

void AddedTokens::cut(std::string_view text, const Normalizer& normalizer, bool parse_special,
                      const Take& take) const {
  const auto trie = [&](const Finder& finder) -> const AddedTokenTrie& {
    return parse_special ? finder.with_special.front() : finder.without_special.front();
  };
  for (const Part& part : parts_of(text, trie(raw_))) {
    if (part.token >= 0) {
      take(part.token, {}, false);
      continue;
    }
    const bool first = part.text.data() == text.data();
    const std::string normalised = normalizer.apply(std::string(part.text));
    for (const Part& inner : parts_of(normalised, trie(normalized_)))
      take(inner.token, inner.token >= 0 ? std::string() : std::string(inner.text),
           first && inner.text.data() == normalised.data());
  }
}

}  // namespace pagoda::text
