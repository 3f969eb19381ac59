#include "telemetry/watch_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace pagoda::telemetry {
namespace {

class WatchStateFileTest : public testing::Test {
 protected:
  WatchStateFileTest() {
    char name[] = "/tmp/pagoda_watch_state_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~WatchStateFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/deep/dcgmi.json"; }
  void write(const std::string& text) const {
    std::filesystem::create_directories(folder_ + "/deep");
    std::ofstream(path()) << text;
  }
  std::string folder_, notice_;
};

TEST_F(WatchStateFileTest, WhatIsWrittenIsReadAgain) {
  const WatchStateFile file(path());
  ASSERT_TRUE(file.change(
      [](WatchState& state) -> Status {
        state.groups.push_back(
            {2, "two of a kind", {{EntityKind::kGpu, 0}, {EntityKind::kComputeInstance, 9}}});
        state.next_group = 3;
        state.field_groups.push_back({1, "heat", {150, 140}});
        state.health[2].systems = 0x11;
        state.health[2].before[0] = {1234567, {{202, 5.0}}};
        state.policies[1] = {Policy::kThermal | Policy::kXid, 0, 85, 0, 1, 2};
        state.injected.push_back({0, 150, "95", 77});
        return {};
      },
      &notice_));
  const auto state = file.load(&notice_);
  ASSERT_TRUE(state);
  EXPECT_EQ(notice_, "");
  ASSERT_EQ(state->groups.size(), 1u);
  EXPECT_EQ(state->groups[0].name, "two of a kind");
  EXPECT_EQ(state->groups[0].entities[1], (EntityId{EntityKind::kComputeInstance, 9}));
  EXPECT_EQ(state->next_group, 3u);
  EXPECT_EQ(state->field_groups[0].fields, (std::vector<unsigned>{150, 140}));
  EXPECT_EQ(state->health.at(2).before.at(0).counters.at(202), 5.0);
  EXPECT_EQ(state->policies.at(1), (Policy{Policy::kThermal | Policy::kXid, 0, 85, 0, 1, 2}));
  EXPECT_EQ(state->injected[0].value, "95");
}

TEST_F(WatchStateFileTest, NoFileIsAnEmptyState) {
  const auto state = WatchStateFile(path()).load(&notice_);
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->groups.empty());
}

TEST_F(WatchStateFileTest, ANewerFormatIsRefusedAndLeftAlone) {
  const std::string newer = R"({"format": 99, "groups": "in some new way"})";
  write(newer);
  const WatchStateFile file(path());
  const auto state = file.load(&notice_);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(state.error().message.find("newer pagoda"), std::string::npos);
  EXPECT_FALSE(file.change([](WatchState&) -> Status { return {}; }, &notice_));
  std::ostringstream now;
  now << std::ifstream(path()).rdbuf();
  EXPECT_EQ(now.str(), newer);
}

TEST_F(WatchStateFileTest, AnOlderOrDamagedOneIsBegunAnewAndKeptAside) {
  for (const char* old : {R"({"format": 0})", R"({"groups": []})", "{\"format\": 1, \"gro",
                          R"({"format": 1})", R"({"format": 1, "groups": [{"id": "two"}]})", "[]", ""}) {
    write(old);
    notice_.clear();
    const WatchStateFile file(path());
    EXPECT_TRUE(file.load(&notice_)) << old;
    EXPECT_FALSE(notice_.empty()) << old;
    EXPECT_TRUE(file.change(
        [](WatchState& state) -> Status {
          state.next_group = 5;
          return {};
        },
        &notice_))
        << old;
    EXPECT_EQ(file.load(&notice_)->next_group, 5u) << old;
    std::ostringstream kept;
    kept << std::ifstream(path() + ".old").rdbuf();
    EXPECT_EQ(kept.str(), old);
  }
}

TEST_F(WatchStateFileTest, ARefusedChangeWritesNothing) {
  const WatchStateFile file(path());
  EXPECT_FALSE(file.change(
      [](WatchState& state) -> Status {
        state.next_group = 9;
        return fail(ErrorCode::kNotFound, "no");
      },
      &notice_));
  EXPECT_EQ(file.load(&notice_)->next_group, 2u);
}

TEST_F(WatchStateFileTest, TwoWritersAtOnceLoseNothing) {
  constexpr int kEach = 20;
  const auto write_groups = [&] {
    for (int i = 0; i < kEach; ++i) {
      std::string notice;
      EXPECT_TRUE(WatchStateFile(path()).change(
          [](WatchState& state) -> Status {
            state.groups.push_back({state.next_group++, "one more", {}});
            return {};
          },
          &notice));
    }
  };
  std::thread other(write_groups);
  write_groups();
  other.join();
  const auto state = WatchStateFile(path()).load(&notice_);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->groups.size(), 2u * kEach);
  EXPECT_EQ(state->next_group, 2u + 2 * kEach);
}

}  // namespace
}  // namespace pagoda::telemetry
