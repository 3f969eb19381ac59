// The small readers of text: templates, addresses, sizes, versions, evidence, newlines, secrets, kernel
// records.
#include <gtest/gtest.h>

#include "faults/driver_facts.h"
#include "faults/event_reader.h"
#include "faults/evidence_text.h"
#include "faults/fields.h"
#include "faults/finding.h"
#include "faults/kernel_log_reader.h"
#include "faults/memory_size.h"
#include "faults/newlines.h"
#include "faults/redaction.h"

namespace pagoda::faults {
namespace {

TEST(Fields, FillTemplates) {
  Fields fields;
  fields.set("gpu", "3");
  fields.set("pid", "7");
  fields.set("pid", "8");
  EXPECT_EQ(fill("GPU {gpu}[ (pid {pid} {name})][, {pid}]: {none}", fields), "GPU 3, 8: ?");
  EXPECT_EQ(fill("open [ {gpu", fields), "open ");
  fields.set("pid", "");
  EXPECT_FALSE(fields.has("pid"));
}

TEST(ShortAddress, BringsAllFormsToOne) {
  for (const char* form : {"PCI:0000:3b:00", "00000000:3B:00.0", "0000:3b:00.0", "3b:00.0", "0000:3B:00"})
    EXPECT_EQ(short_address(form), "0000:3b:00") << form;
  EXPECT_EQ(short_address("00010000:3b:00.0"), "00010000:3b:00");
  EXPECT_EQ(short_address("3"), "3");
}

TEST(MemorySize, ReadsAndWrites) {
  EXPECT_DOUBLE_EQ(*gib_of("512.00 MiB"), 0.5);
  EXPECT_DOUBLE_EQ(*gib_of("1.75 GiB"), 1.75);
  EXPECT_FALSE(gib_of("many GiB"));
  EXPECT_FALSE(gib_of("3 apples"));
  EXPECT_EQ(words_of_gib(0.5), "512 MiB");
  EXPECT_EQ(words_of_gib(23.69), "23.69 GiB");
}

TEST(DriverFacts, LeastDriversAndGenerations) {
  EXPECT_EQ(least_driver_of_cuda("12.4"), "550.54.14");
  EXPECT_EQ(least_driver_of_cuda("12.7"), "560.28.03");
  EXPECT_EQ(least_driver_of_cuda("11.8"), "520.61.05");
  EXPECT_FALSE(least_driver_of_cuda("99.1"));
  EXPECT_EQ(name_of_device(0x1db1), "V100 (Volta)");
  EXPECT_EQ(name_of_device(0x2330), "H100 80GB HBM3 (Hopper)");
  EXPECT_EQ(name_of_device(0x20f3), "an Ampere GPU (10de:20f3)");
  EXPECT_EQ(name_of_device(0x0001), "the GPU 10de:0001");
  EXPECT_EQ(name_of_device(0x1b06), "GeForce GTX 1080 Ti (Pascal)");
  EXPECT_EQ(last_branch_of_device(0x102d), "470");
  EXPECT_EQ(last_branch_of_device(0x1db1), "580");
  EXPECT_EQ(last_branch_of_device(0x2330), "");
  EXPECT_EQ(least_cuda_of_capability("sm_121"), "12.9");
  EXPECT_EQ(least_cuda_of_capability("sm_70"), "9.0");
  EXPECT_FALSE(least_cuda_of_capability("sm_999"));
}

TEST(EvidenceText, IsFitToBeShown) {
  EXPECT_EQ(evidence_text("a\x1b[31mred\x1b[0m\tb\x07 "), "ared b");
  EXPECT_EQ(evidence_text("65\xc2\xb0"
                          "C \xff\xc3"),
            "65\xc2\xb0"
            "C \xef\xbf\xbd\xef\xbf\xbd");
  const std::string cut = evidence_text(std::string(5000, 'x'));
  EXPECT_LE(cut.size(), kEvidenceBytes);
  EXPECT_TRUE(cut.ends_with("…"));
}

TEST(Newlines, AreCounted) {
  EXPECT_EQ(count_newlines(""), 0);
  EXPECT_EQ(count_newlines(std::string(10000, '\n')), 10000);
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::string(static_cast<size_t>(i % 37), 'x') + '\n';
  EXPECT_EQ(count_newlines(text), 5000);
}

TEST(Redaction, KeepsWhatIsNoSecret) {
  Redaction redaction;
  for (const char* line : {"max_tokens=512", "num_tokens: 4096", "token ids [1, 2]",
                           "http://127.0.0.1:8000/v1", "basic test", "GPU Serial : N/A", "password:"})
    EXPECT_EQ(redaction.clean(line), line);
  EXPECT_EQ(redaction.removed(), 0);
  EXPECT_EQ(redaction.clean("HF_TOKEN=abcdef\nnext"), "HF_TOKEN=[removed]\nnext");
  EXPECT_EQ(redaction.removed(), 1);
}

TEST(KernelRecord, BecomesALineOfDmesg) {
  EXPECT_EQ(dmesg_line("6,1234,8123104511,-;NVRM: Xid\n SUBSYSTEM=pci\n"), "[ 8123.104511] NVRM: Xid\n");
  EXPECT_EQ(dmesg_line("[ 1.0] already\n"), "[ 1.0] already\n");
}

}  // namespace
}  // namespace pagoda::faults
