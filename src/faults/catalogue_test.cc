// The tables fit together: every id, key and template that a row names exists.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "faults/fault_catalogue.h"
#include "faults/log_pattern.h"
#include "faults/pattern_matcher.h"
#include "faults/remedies.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

TEST(FaultCatalogue, IdsAreUniqueAndFound) {
  std::set<std::string_view> ids;
  for (const FaultTable& table : fault_tables()) {
    for (const FaultRow& row : table.rows) {
      EXPECT_TRUE(ids.insert(row.id).second) << row.id;
      EXPECT_EQ(find_fault(row.id), &row);
    }
  }
  EXPECT_GT(ids.size(), 150u);
  EXPECT_EQ(find_fault("xid-79000"), nullptr);
}

TEST(FaultCatalogue, EveryRowSaysWhatToDo) {
  for (const FaultTable& table : fault_tables()) {
    for (const FaultRow& row : table.rows) {
      EXPECT_FALSE(row.cause.empty()) << row.id;
      EXPECT_FALSE(words_of(row.remedies).empty()) << row.id;
      for (const std::string_view key : words_of(row.remedies))
        EXPECT_NE(find_remedy(key), nullptr) << row.id << ": " << key;
      EXPECT_NE(row.cause.back(), '.') << row.id;
    }
  }
}

TEST(FaultCatalogue, EveryRemedyIsUsed) {
  std::set<std::string_view> used;
  for (const FaultTable& table : fault_tables()) {
    for (const FaultRow& row : table.rows) {
      for (const std::string_view key : words_of(row.remedies)) used.insert(key);
    }
  }
  for (const Remedy& remedy : remedies()) EXPECT_TRUE(used.contains(remedy.key)) << remedy.key;
}

TEST(FaultCatalogue, TemplatesAreWellFormed) {
  const auto check = [](std::string_view text, std::string_view id) {
    int depth = 0;
    for (const char c : text) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      EXPECT_TRUE(depth == 0 || depth == 1) << id << ": " << text;
    }
    EXPECT_EQ(depth, 0) << id;
  };
  for (const FaultTable& table : fault_tables()) {
    for (const FaultRow& row : table.rows) {
      check(row.cause, row.id);
      check(row.as_consequence, row.id);
    }
  }
  for (const Remedy& remedy : remedies()) {
    check(remedy.text, remedy.key);
    check(remedy.command, remedy.key);
  }
}

TEST(LogPatterns, NameRowsThatExist) {
  for (const LogPattern& pattern : PatternMatcher::patterns()) {
    EXPECT_NE(find_fault(pattern.fault), nullptr) << pattern.literal << ": " << pattern.fault;
    EXPECT_GE(pattern.literal.size(), 4u) << pattern.literal;
  }
}

TEST(LogPatterns, MarksAreNoPatternsLiterals) {
  const auto matcher = PatternMatcher::create(section_marks());
  ASSERT_TRUE(matcher);
  for (const LogPattern& pattern : PatternMatcher::patterns()) {
    std::vector<PatternMatcher::Hit> hits;
    (*matcher)->scan(pattern.literal, *(*matcher)->make_scratch(), hits);
    ASSERT_FALSE(hits.empty()) << pattern.literal;
  }
}

}  // namespace
}  // namespace pagoda::faults
