"""Ten minutes of `pagoda exporter` with a reading a second and a scrape a second, while a GPU is lost and found again and
again, XIDs come, a call hangs: memory stays flat, no scrape fails. exporter_soak.py PAGODA LIBRARY [--short]"""
import statistics
import sys
import time

from exporter_process import OPEN_METRICS, Exporter

SHORT = "--short" in sys.argv
MINUTES, WARM_UP_MINUTES = (0.75, 0.15) if SHORT else (10, 2)
CYCLE_SECONDS = 6 if SHORT else 20
MOST_GROWTH_KB = 1024
MOST_RESIDENT_KB = 30 * 1024


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1])


def threads(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("Threads:")).split()[1])


def disturb(exporter, cycle, half):
    """A GPU falls off the bus in the first half of a cycle and comes back in the second."""
    gpu = cycle % 8
    if half == 0:
        exporter.simulate("--xid", f"{gpu}:79", "--set", f"{gpu}.lost=1")
    else:
        exporter.simulate("--xid", f"{(gpu + 1) % 8}:31", "--set", f"{gpu}.lost=0")


def main():
    pagoda, library = sys.argv[1:3]
    memory, thread_counts, lost_seen, found_seen = [], [], 0, 0
    with Exporter(pagoda, library, "h100x8:training", ["-c", "1000"]) as exporter:
        start, last = time.monotonic(), None
        while (elapsed := time.monotonic() - start) < 60 * MINUTES:
            phase = int(elapsed / (CYCLE_SECONDS / 2))
            if phase != last:
                disturb(exporter, phase // 2, phase % 2)
                last = phase
            status, _, page = exporter.get("/metrics", OPEN_METRICS if phase % 2 else None)
            assert status == 200 and len(page) > 10000, (status, page[:200])
            assert exporter.get("/health")[0] == 200
            up = [line.endswith(" 1") for line in page.splitlines() if line.startswith("pagoda_gpu_up{")]
            assert len(up) == 8, f"{len(up)} GPUs"
            lost_seen += not all(up)
            found_seen += all(up)
            if elapsed > 60 * WARM_UP_MINUTES:
                memory.append(resident_kb(exporter.process.pid))
                thread_counts.append(threads(exporter.process.pid))
            time.sleep(1 - (time.monotonic() - start) % 1)
        collections = exporter.value("pagoda_exporter_collections_total")
    third = len(memory) // 3
    first, last_third = statistics.median(memory[:third]), statistics.median(memory[-third:])
    print(f"{MINUTES} min: {collections:.0f} readings; RSS {first:.0f} kB in the first third, {last_third:.0f} kB in the last, "
          f"at most {max(memory)} kB; {min(thread_counts)} to {max(thread_counts)} threads; "
          f"{lost_seen} scrapes with a lost GPU, {found_seen} with all")
    assert last_third - first < MOST_GROWTH_KB, "memory grows"
    assert max(memory) < MOST_RESIDENT_KB, "more than 30 MB"
    assert lost_seen and found_seen
    assert collections > 60 * MINUTES * 0.8, "readings were missed"


if __name__ == "__main__":
    main()
