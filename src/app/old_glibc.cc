// Lets a program built here start where glibc is 2.34: definitions of the two newer functions that GCC 12's
// static runtime calls. cmake/install.cmake pulls this file into the link. Hidden, so that no library sees
// them.
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

namespace {

// As glibc 2.35 lays it out on machines whose unwinder needs no data base address (x86-64, aarch64).
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  void* link_map;
  const void* eh_frame;  // the PT_GNU_EH_FRAME segment
  unsigned long long reserved[7];
};

struct Search {
  uintptr_t address;
  FoundObject* result;
  bool found;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* frames = nullptr;
  bool inside = false;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_EH_FRAME) frames = &header;
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + header.p_vaddr;
    const uintptr_t last = first + header.p_memsz;
    if (search.address >= first && search.address < last) inside = true;
    if (first < begin) begin = first;
    if (last > end) end = last;
  }
  if (!inside || frames == nullptr) return inside ? 1 : 0;
  *search.result = {};
  search.result->map_start = reinterpret_cast<void*>(begin);
  search.result->map_end = reinterpret_cast<void*>(end);
  search.result->eh_frame = reinterpret_cast<const void*>(info->dlpi_addr + frames->p_vaddr);
  search.found = true;
  return 1;
}

}  // namespace

// Under other names in C++, as the headers of a newer glibc declare the real ones.
#define PAGODA_SYMBOL(name) asm(name) __attribute__((visibility("hidden")))
extern "C" int find_object(void* address, FoundObject* result) noexcept PAGODA_SYMBOL("_dl_find_object");
extern "C" uint32_t random_word() noexcept PAGODA_SYMBOL("arc4random");

// 0 and `result` filled, or -1: no loaded object with unwinding tables holds the address.
int find_object(void* address, FoundObject* result) noexcept {
  Search search{reinterpret_cast<uintptr_t>(address), result, false};
  ::dl_iterate_phdr(visit, &search);
  return search.found ? 0 : -1;
}

// std::random_device's source.
uint32_t random_word() noexcept {
  uint32_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}
