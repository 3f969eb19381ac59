// What the processes that use the GPUs do on the machine's side, over a window: whether a GPU that waits does
// so for a CPU, for the disk or for the network. Read from /proc; works for processes of other containers
// too, as far as this one may see them.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::faults {

struct ProcessActivity {
  unsigned pid = 0;
  std::string name;
  double cpus = 0;  // CPUs that it kept busy, all threads together
  // Of its busiest thread, 0–1: the share of the window that it ran, or of the looks that met it running or
  // ready to run, whichever is more: a thread that others keep from the CPU waits for the CPU too.
  double busiest_thread = 0;
  double disk_mb_per_s = 0;  // read and written, as the block devices saw it
  double in_disk_wait = 0;   // share of the looks at which a thread slept uninterruptibly, 0–1
};

// The busiest network interface; a speed of 0: it does not tell.
struct NetworkActivity {
  std::string interface;
  double mb_per_s = 0;  // the busier direction
  double speed_mb_per_s = 0;
};

struct HostActivity {
  std::map<unsigned, ProcessActivity> processes;  // by pid; those that lived through the window
  NetworkActivity network;
};

// Looks again and again while GPUs are sampled. For one thread.
class ActivityWatch {
 public:
  ActivityWatch(driver::HostRoot root, std::vector<unsigned> pids);
  // Every so often in between: which threads run, or wait for the disk, right now.
  void look();
  HostActivity finish();

 private:
  struct Counters {
    bool exists = false;
    double cpu_s = 0, disk_bytes = 0;
    std::map<std::string, double> thread_cpu_s;
  };
  struct Process {
    Counters begin;
    int looks_in_disk_wait = 0;
    std::map<std::string, int> looks_ready;  // by thread
  };
  Counters counters_of(unsigned pid) const;
  std::map<std::string, std::pair<double, double>> network_bytes() const;  // received, sent

  driver::HostRoot root_;
  std::map<unsigned, Process> processes_;
  std::map<std::string, std::pair<double, double>> network_;
  std::chrono::steady_clock::time_point begin_;
  int looks_ = 0;
};

}  // namespace pagoda::faults
