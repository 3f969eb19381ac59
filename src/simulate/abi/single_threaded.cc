// Debian's libyaml-cpp.a is compiled for programs: it reaches libc's flag __libc_single_threaded in a way
// that a shared object may not. With a flag of our own, hidden, it links. 0 says "there may be threads",
// which is always safe: atomic counters instead of plain ones.
extern "C" {
extern const char single_threaded_flag asm("__libc_single_threaded") __attribute__((visibility("hidden")));
const char single_threaded_flag = 0;
}
