// What appears, changes and clears, and the metrics text made of it; without any machine.
#include "faults/fault_watch.h"

#include <gtest/gtest.h>

#include "faults/examination_fixture.h"
#include "faults/fault_metrics.h"

namespace pagoda::faults {
namespace {

using std::chrono::seconds;

constexpr std::string_view kXid48 = "NVRM: Xid (PCI:0000:3b:00): 48, pid=7, name=a, DBE\n";
constexpr std::string_view kXid63 = "NVRM: Xid (PCI:0000:3b:00): 63, pid=7, name=a, row\n";
constexpr std::string_view kOther = "NVRM: Xid (PCI:0000:5e:00): 48, pid=7, name=a, DBE\n";

WallTime at(int second) {
  return WallTime(seconds(1'800'000'000 + second));
}

// "appeared xid-48, cleared xid-63"
std::string words_of(const std::vector<Transition>& transitions) {
  std::string words;
  for (const Transition& transition : transitions) {
    words += words.empty() ? "" : ", ";
    words += name_of(transition.kind);
    (words += ' ') += transition.watched.story.findings.front().fault->id;
  }
  return words;
}

TEST(FaultWatch, TellsAFaultOnceAndItsEndOnce) {
  FaultWatch watch;
  EXPECT_EQ(words_of(watch.update(examine_text(kXid48), at(0))), "appeared xid-48");
  EXPECT_EQ(words_of(watch.update(examine_text(kXid48), at(1))), "");
  EXPECT_EQ(words_of(watch.update(examine_text("x\n"), at(2))), "") << "one examination without it is no end";
  const auto cleared = watch.update(examine_text("x\n"), at(3));
  EXPECT_EQ(words_of(cleared), "cleared xid-48");
  EXPECT_EQ(cleared.front().watched.since, at(0));
  EXPECT_EQ(cleared.front().watched.last_seen, at(1));
  EXPECT_TRUE(watch.current().empty());
}

TEST(FaultWatch, OneThatComesAndGoesIsOne) {
  FaultWatch watch;
  watch.update(examine_text(kXid48), at(0));
  watch.update(examine_text("x\n"), at(1));
  EXPECT_EQ(words_of(watch.update(examine_text(kXid48), at(2))), "");
  EXPECT_EQ(words_of(watch.update(examine_text("x\n"), at(3))), "");
}

TEST(FaultWatch, AConsequenceChangesTheStoryANumberDoesNot) {
  FaultWatch watch;
  watch.update(examine_text(kXid48), at(0));
  const std::string twice = std::string(kXid48) + std::string(kXid48);
  EXPECT_EQ(words_of(watch.update(examine_text(twice), at(1))), "");
  EXPECT_EQ(words_of(watch.update(examine_text(std::string(kXid48) + std::string(kXid63)), at(2))),
            "changed xid-48");
}

TEST(FaultWatch, GpusAreApart) {
  FaultWatch watch;
  watch.update(examine_text(kXid48), at(0));
  EXPECT_EQ(words_of(watch.update(examine_text(kOther), at(1))), "appeared xid-48");
  EXPECT_EQ(watch.current().size(), 2u);
  EXPECT_EQ(words_of(watch.update(examine_text(kOther), at(2))), "cleared xid-48");
}

TEST(EventMemory, ForgetsWhatIsOldAndIsBounded) {
  EventMemory memory(seconds(60));
  const Report report = examine_text(kXid48);
  const Event event = report.stories.front().findings.front().events.front();
  memory.add(event, at(0));
  memory.add(event, at(50));
  memory.forget(at(60));
  EXPECT_EQ(memory.events().size(), 2u);
  memory.forget(at(61));
  EXPECT_EQ(memory.events().size(), 1u);
  for (size_t i = 0; i < EventMemory::kMost + 10; ++i) memory.add(event, at(62));
  EXPECT_EQ(memory.events().size(), EventMemory::kMost);
}

TEST(FaultMetrics, OneLineForEachFindingNoneForAHealthyMachine) {
  FaultWatch watch;
  WatchState state{{}, at(5), 0.25};
  EXPECT_EQ(fault_metrics(state).find("pagoda_fault{"), std::string::npos);
  watch.update(examine_text(std::string(kXid48) + std::string(kXid63)), at(0));
  state.stories = watch.current();
  const std::string text = fault_metrics(state);
  EXPECT_NE(text.find(R"(pagoda_fault{id="xid-48",gpu="0000:3b:00",role="cause",severity="fault",)"
                      R"(step="presence",drain="true",title="double-bit ECC error"} 1)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(id="xid-63",gpu="0000:3b:00",role="consequence")"), std::string::npos) << text;
  EXPECT_NE(text.find("pagoda_fault_stories{severity=\"fault\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pagoda_doctor_last_examination_timestamp_seconds 1800000005.000\n"),
            std::string::npos);
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace pagoda::faults
