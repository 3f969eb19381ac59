#include "container/hook/library_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace pagoda::container {
namespace {

constexpr std::string_view kConfiguration = "/etc/ld.so.conf.d/00-pagoda.conf";

Result<std::string> read_host_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fail(ErrorCode::kNotFound, format("{}: {}", path, std::strerror(errno)));
  std::string content;
  char block[65536];
  ssize_t count = 0;
  while ((count = read(file.get(), block, sizeof block)) > 0)
    content.append(block, static_cast<size_t>(count));
  if (count < 0) return fail(ErrorCode::kUnavailable, format("{}: {}", path, std::strerror(errno)));
  return content;
}

bool is_elf(const std::string& image) {
  return image.size() > sizeof(Elf64_Ehdr) && image.starts_with(ELFMAG);
}

// A program with an interpreter is linked by that interpreter, which would be the image's.
bool is_static(const std::string& image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (at > image.size() || image.size() - at < sizeof(Elf64_Phdr)) return false;
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

// Ubuntu's /sbin/ldconfig is a script around ldconfig.real.
Result<std::string> static_program(const std::string& path) {
  PAGODA_ASSIGN(auto image, read_host_file(path));
  if (!is_elf(image)) {
    PAGODA_ASSIGN(image, read_host_file(path + ".real"));
  }
  if (!is_elf(image) || !is_static(image)) {
    return fail(ErrorCode::kUnsupported,
                format("{} is not a static program; it cannot be run safely in the container's root. "
                       "Generate the CDI spec with "
                       "--disable-hook update-ldcache and set LD_LIBRARY_PATH in the image",
                       path));
  }
  return image;
}

// An unnamed copy that nobody can change, to be executed from behind the root's wall.
Result<Descriptor> sealed_copy(const std::string& image) {
  Descriptor copy(memfd_create("ldconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (copy.get() < 0) return fail(ErrorCode::kUnavailable, format("memfd_create: {}", std::strerror(errno)));
  for (size_t at = 0; at < image.size();) {
    const ssize_t count = write(copy.get(), image.data() + at, image.size() - at);
    if (count < 0) return fail(ErrorCode::kUnavailable, format("copying ldconfig: {}", std::strerror(errno)));
    at += static_cast<size_t>(count);
  }
  if (fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(ErrorCode::kUnavailable, format("sealing ldconfig: {}", std::strerror(errno)));
  }
  return copy;
}

// In the child: enters the root and becomes ldconfig. Returns only on failure.
void become_ldconfig(const ConfinedRoot& root, int program) {
  const char* arguments[] = {"ldconfig", nullptr};
  const char* environment[] = {nullptr};
  if (fchdir(root.descriptor()) != 0 || chroot(".") != 0 || chdir("/") != 0) return;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
}

bool has_loader_configuration(const ConfinedRoot& root) {
  return root.open_at("/etc/ld.so.conf", O_PATH).has_value() ||
         root.open_at("/etc/ld.so.cache", O_PATH).has_value() ||
         root.open_at("/lib64/ld-linux-x86-64.so.2", O_PATH).has_value();
}

}  // namespace

Status update_library_cache(const ConfinedRoot& root, const std::string& host_ldconfig,
                            const std::vector<std::string>& folders) {
  if (!has_loader_configuration(root)) return {};
  PAGODA_ASSIGN(const auto image, static_program(host_ldconfig));
  PAGODA_ASSIGN(const auto program, sealed_copy(image));
  std::string lines;
  for (const auto& folder : folders) lines += folder + "\n";
  PAGODA_TRY(root.write_file(kConfiguration, lines));
  if (!root.open_at("/etc/ld.so.conf", O_PATH)) {
    PAGODA_TRY(root.write_file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"));
  }
  const pid_t child = fork();
  if (child < 0) return fail(ErrorCode::kUnavailable, format("fork: {}", std::strerror(errno)));
  if (child == 0) {
    become_ldconfig(root, program.get());
    _exit(126);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::kUnavailable,
              format("ldconfig in the container's root ended with {}",
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)));
}

}  // namespace pagoda::container
