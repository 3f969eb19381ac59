// Causes and consequences: what belongs together does, what does not stays apart.
#include <gtest/gtest.h>

#include "faults/examination_fixture.h"

namespace pagoda::faults {
namespace {

TEST(Stories, TwoGpusAreTwoStories) {
  const Report report = examine_text(
      "[  100.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=a, FAULT_PDE ACCESS_TYPE_VIRT_WRITE\n"
      "[  100.1] NVRM: Xid (PCI:0000:86:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
      "bus.\n"
      "[  100.2] NVRM: Xid (PCI:0000:3b:00): 43, pid=7, name=a, Ch 00000008\n");
  EXPECT_EQ(ids_of(report), "xid-79 xid-31>xid-43");
  EXPECT_NE(report.stories[1].cause.find("wrote to an invalid address"), std::string::npos);
}

TEST(Stories, EachGpuHasItsOwnPort) {
  const Report report = examine_text(
      "[  100.0] pcieport 0000:3a:00.0:    [ 5] SDES                   (First)\n"
      "[  100.1] pcieport 0000:85:00.0:    [ 5] SDES                   (First)\n"
      "[  100.2] NVRM: Xid (PCI:0000:86:00): 79, GPU has fallen off the bus.\n"
      "[  100.3] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
  ASSERT_EQ(ids_of(report), "aer-surprise-down>xid-79 aer-surprise-down>xid-79");
  EXPECT_EQ(report.stories[0].gpu, "0000:3b:00");
  EXPECT_EQ(report.stories[1].gpu, "0000:86:00");
}

TEST(Stories, AnErrorAtAnotherPortOrAtAnotherTimeAccusesNoLink) {
  const Report elsewhere = examine_text(
      "[  100.0] pcieport 0000:85:00.0: AER: Uncorrected (Fatal) error received: 0000:85:00.0\n"
      "[  100.2] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
  EXPECT_EQ(ids_of(elsewhere), "xid-79 aer-uncorrected-elsewhere");
  const Report earlier = examine_text(
      "[  100.0] pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3a:00.0\n"
      "[90000.2] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
  EXPECT_EQ(ids_of(earlier), "xid-79 aer-uncorrected-elsewhere");
}

TEST(Stories, TheLinkIsAcquittedOnlyWhereItLoggedNothing) {
  const std::string fall = "[  100.2] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  const auto cause = [&](const std::string& before) {
    return examine_text(before + fall).stories.at(0).cause;
  };
  EXPECT_NE(cause("").find("no PCIe error was logged"), std::string::npos);
  EXPECT_NE(cause("[  99.0] pcieport 0000:85:00.0: AER: Uncorrected (Fatal) error received: 0000:85:00.0\n")
                .find("of its own link"),
            std::string::npos);
  EXPECT_EQ(
      cause("[  99.0] pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3a:00.0\n").find("accused"),
      std::string::npos);
}

TEST(Stories, AnotherProcessIsNotTheVictimsCause) {
  const Report report = examine_text(
      "[  100.0] NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=a, Graphics Exception\n"
      "[  100.1] NVRM: Xid (PCI:0000:3b:00): 109, pid=8, name=b, errorString CTX SWITCH TIMEOUT\n");
  EXPECT_EQ(ids_of(report), "xid-109 xid-13");
}

TEST(Stories, TheDriversWishEndsTheStory) {
  const Report report = examine_text(
      "[  100.0] NVRM: Xid (PCI:0000:3b:00): 48, pid=7, name=a, DBE\n"
      "[  100.1] NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper: New row marked for remapping\n"
      "[  100.2] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain "
      "and Reset)\n");
  ASSERT_EQ(ids_of(report), "xid-48>xid-63>xid-154");
  EXPECT_TRUE(report.stories[0].drain);
  EXPECT_NE(report.stories[0].cause.find("drain the GPU, then reset it"), std::string::npos);
}

TEST(Stories, AFallenGpuExplainsWhatProgramsSee) {
  const Report report = examine_text(
      "[  100.0] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
      "RuntimeError: CUDA error: unspecified launch failure\n"
      "(EngineCore_0 pid=9) RuntimeError: Engine core initialization failed. See root cause above.\n"
      "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n");
  EXPECT_EQ(ids_of(report), "xid-79>cuda-launch-failure>engine-ended>device-handle");
}

TEST(Stories, AFailedRemapOutweighsItsCause) {
  const Report report = examine_text(
      "[  100.0] NVRM: Xid (PCI:0000:3b:00): 94, pid=7, name=a, Contained\n"
      "[  100.1] NVRM: Xid (PCI:0000:3b:00): 64, Row Remapper: failed\n");
  ASSERT_EQ(ids_of(report), "xid-94>xid-64");
  EXPECT_EQ(report.stories[0].severity, Severity::kFault);
  EXPECT_NE(report.stories[0].cause.find("replace"), std::string::npos);
}

TEST(Stories, RanksInOneStepAccuseTheNetwork) {
  const auto line = [](int rank, int seq, const char* op) {
    return "[Rank " + std::to_string(rank) +
           "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + std::to_string(seq) +
           ", OpType=" + op + ", NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran\n";
  };
  const Report same = examine_text(line(0, 9, "ALLREDUCE") + line(1, 9, "ALLREDUCE"));
  ASSERT_EQ(ids_of(same), "nccl-timeout");
  EXPECT_NE(same.stories[0].cause.find("network"), std::string::npos);
  const Report silent =
      examine_text(line(0, 9, "ALLREDUCE") + line(1, 9, "ALLREDUCE") + line(3, 9, "ALLREDUCE"));
  EXPECT_NE(silent.stories[0].cause.find("rank 2 reports nothing"), std::string::npos)
      << silent.stories[0].cause;
  const Report parted = examine_text(line(0, 9, "ALLREDUCE") + line(1, 9, "BROADCAST"));
  EXPECT_EQ(ids_of(parted), "nccl-mismatched-collective");
  std::string many;
  for (int rank = 0; rank < 512; ++rank) many += line(rank, rank == 300 ? 7 : 9, "ALLGATHER");
  const Report late = examine_text(many);
  ASSERT_EQ(ids_of(late), "nccl-lagging-rank");
  EXPECT_NE(late.stories[0].cause.find("rank 300 is 2 collectives behind (7 against 9"), std::string::npos)
      << late.stories[0].cause;
}

TEST(Stories, ManyEqualEventsAreOneFindingInBoundedMemory) {
  std::string log;
  for (int i = 0; i < 50000; ++i)
    log += "[" + std::to_string(100 + i) +
           ".0] NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=a, Graphics Exception\n";
  const Report report = examine_text(log);
  ASSERT_EQ(ids_of(report), "xid-13");
  EXPECT_EQ(report.stories[0].findings[0].count, 50000);
  EXPECT_EQ(report.stories[0].findings[0].events.size(), 2 * EventLog::kKept);
  EXPECT_EQ(report.stories[0].findings[0].events.back().evidence.line, 50000);
}

TEST(Stories, ManyProcessesEndInTime) {
  std::string log;
  for (int i = 0; i < 6000; ++i)
    log +=
        "[100.0] NVRM: Xid (PCI:0000:3b:00): 13, pid=" + std::to_string(i) + ", name=a, Graphics Exception\n";
  const Report report = examine_text(log);
  EXPECT_EQ(report.stories.size(), 512u);
  EXPECT_EQ(report.gaps.size(), 2u);
}

}  // namespace
}  // namespace pagoda::faults
