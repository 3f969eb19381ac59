#include "faults/source_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/format.h"

namespace pagoda::faults {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 19;
constexpr size_t kMostFiles = 10'000;  // of a folder

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  // Bytes read; 0 at the end, -1 on a fault.
  ssize_t read(char* into, size_t bytes) const {
    ssize_t count;
    do count = ::read(descriptor_, into, bytes);
    while (count < 0 && errno == EINTR);
    return count;
  }

 private:
  const int descriptor_;
};

// An archive's bytes: what was read to look at, then the rest of the file.
struct ArchiveInput {
  const File* file;
  std::string first;
  std::string piece;
  bool first_given = false;
};

la_ssize_t give_bytes(archive*, void* context, const void** bytes) {
  auto* input = static_cast<ArchiveInput*>(context);
  if (!input->first_given) {
    input->first_given = true;
    *bytes = input->first.data();
    return static_cast<la_ssize_t>(input->first.size());
  }
  input->piece.resize(kPieceBytes);
  *bytes = input->piece.data();
  return input->file->read(input->piece.data(), input->piece.size());
}

bool is_gzip(std::string_view first) {
  return first.starts_with("\x1f\x8b");
}

bool is_tar(std::string_view first) {
  return first.size() >= 512 && first.substr(257, 5) == "ustar";
}

void read_entry(archive* reader, FileReceiver& receiver) {
  const void* bytes = nullptr;
  size_t count = 0;
  la_int64_t offset = 0;
  int result;
  while ((result = archive_read_data_block(reader, &bytes, &count, &offset)) == ARCHIVE_OK) {
    if (!receiver.take({static_cast<const char*>(bytes), count})) return receiver.end("");
  }
  const char* why = archive_error_string(reader);
  receiver.end(result == ARCHIVE_EOF ? ""
                                     : format("the archive ends early or is damaged here ({})",
                                              why != nullptr ? why : "unknown"));
}

void read_archive(const File& file, std::string first, const std::string& name, FileReceiver& receiver) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_raw(reader.get());
  ArchiveInput input{&file, std::move(first), {}, false};
  archive_entry* entry = nullptr;
  int result = archive_read_open(reader.get(), &input, nullptr, give_bytes, nullptr);
  bool any = false;
  while (result >= ARCHIVE_WARN &&
         (result = archive_read_next_header(reader.get(), &entry)) >= ARCHIVE_WARN && result != ARCHIVE_EOF) {
    const bool raw = archive_format(reader.get()) == ARCHIVE_FORMAT_RAW;
    if (!raw && archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* inner = archive_entry_pathname(entry);
    any = true;
    receiver.begin(raw || inner == nullptr ? name : name + ":" + inner);
    read_entry(reader.get(), receiver);
  }
  if (any && result == ARCHIVE_EOF) return;
  const char* why = archive_error_string(reader.get());
  if (!any || result < ARCHIVE_WARN) {
    receiver.begin(name);
    receiver.end(format("not a readable archive ({})", why != nullptr ? why : "empty"));
  }
}

void read_file(const File& file, const std::string& name, FileReceiver& receiver) {
  std::string piece(kPieceBytes, '\0');
  ssize_t count = 0;
  size_t filled = 0;
  while (filled < 512 && (count = file.read(piece.data() + filled, piece.size() - filled)) > 0)
    filled += static_cast<size_t>(count);
  const std::string_view first(piece.data(), filled);
  if (is_gzip(first) || is_tar(first)) return read_archive(file, std::string(first), name, receiver);
  receiver.begin(name);
  bool wanted = filled == 0 || receiver.take(first);
  while (wanted && (count = file.read(piece.data(), piece.size())) > 0)
    wanted = receiver.take({piece.data(), static_cast<size_t>(count)});
  receiver.end(count < 0 ? format("cannot be read further: {}", std::strerror(errno)) : "");
}

void open_and_read(const std::filesystem::path& path, const std::string& name, FileReceiver& receiver) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const std::string why = std::strerror(errno);
    receiver.begin(name);
    receiver.end(format("cannot be opened: {}", why));
    return;
  }
  read_file(File(descriptor), name, receiver);
}

Status read_folder(const std::filesystem::path& folder, FileReceiver& receiver) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  auto walk = std::filesystem::recursive_directory_iterator(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  if (error)
    return fail(ErrorCode::kNotFound, format("{} cannot be read: {}", folder.string(), error.message()));
  for (; walk != std::filesystem::recursive_directory_iterator() && files.size() < kMostFiles;
       walk.increment(error)) {
    const bool hidden = walk->path().filename().string().starts_with('.');
    if (hidden && walk->is_directory(error)) walk.disable_recursion_pending();
    if (!hidden && walk->is_regular_file(error)) files.push_back(walk->path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) open_and_read(file, file.lexically_relative(folder).string(), receiver);
  return {};
}

}  // namespace

Status read_sources(const std::string& path, FileReceiver& receiver) {
  if (path == "-") {
    read_file(File(STDIN_FILENO), "standard input", receiver);
    return {};
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return fail(ErrorCode::kNotFound,
                format("{} is not there; name a file, a folder, or - for standard input", path), "from");
  if (std::filesystem::is_directory(status)) return read_folder(path, receiver);
  open_and_read(path, std::filesystem::path(path).filename().string(), receiver);
  return {};
}

}  // namespace pagoda::faults
