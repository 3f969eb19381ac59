#include "http/port_holder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pagoda::http {
namespace {

namespace fs = std::filesystem;

// A /proc with one process that listens on port 8000 (1F40) and is connected on 8001.
class FakeProc : public testing::Test {
 protected:
  FakeProc() : root_(testing::TempDir() + "pagoda_fake_proc_" + std::to_string(::getpid())) {
    fs::create_directories(root_ + "/net");
    fs::create_directories(root_ + "/4321/fd");
    fs::create_directories(root_ + "/self/fd");
    std::ofstream(root_ + "/net/tcp") << "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
                                         "retrnsmt   uid  timeout inode\n"
                                         "   0: 0100007F:1F41 0100007F:C350 01 00000000:00000000 00:00000000 "
                                         "00000000     0        0 1111 1 0\n";
    std::ofstream(root_ + "/net/tcp6")
        << "  sl  local_address                         remote_address                        st ...\n"
           "   0: 00000000000000000000000000000000:1F40 00000000000000000000000000000000:0000 0A "
           "00000000:00000000 "
           "00:00000000 00000000  1000        0 2222 1 0\n";
    std::ofstream(root_ + "/4321/comm") << "uvicorn\n";
    fs::create_symlink("/dev/null", root_ + "/4321/fd/0");
    fs::create_symlink("socket:[2222]", root_ + "/4321/fd/3");
  }
  ~FakeProc() override { fs::remove_all(root_); }
  const std::string root_;
};

TEST_F(FakeProc, FindsWhoListens) {
  const auto holder = find_port_holder(8000, root_);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, 4321);
  EXPECT_EQ(holder->command, "uvicorn");
}

TEST_F(FakeProc, AConnectionIsNoListener) {
  EXPECT_FALSE(find_port_holder(8001, root_));
}

TEST_F(FakeProc, NobodyIsNobody) {
  EXPECT_FALSE(find_port_holder(9, root_));
  EXPECT_FALSE(find_port_holder(8000, root_ + "/missing"));
}

TEST_F(FakeProc, AnotherUsersProcessIsNotNamed) {
  fs::remove_all(root_ + "/4321/fd");
  EXPECT_FALSE(find_port_holder(8000, root_));
}

}  // namespace
}  // namespace pagoda::http
