#include "faults/bundle.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/format.h"

namespace pagoda::faults {

namespace {

constexpr size_t kTarBlock = 512;
using TarBlock = std::array<char, kTarBlock>;

// A field of the ustar header (POSIX.1-1988): where it begins and how long it is.
struct TarField {
  size_t at, bytes;
};
constexpr TarField kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kChecksum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

void put(TarBlock& block, TarField field, std::string_view text) {
  std::memcpy(block.data() + field.at, text.data(), std::min(text.size(), field.bytes));
}

void put_octal(TarBlock& block, TarField field, uint64_t value) {
  put(block, field, format("{:0{}o}", value, field.bytes - 1));
}

// A long path is split at a slash into prefix and name; one that cannot be is cut in front.
void put_path(TarBlock& block, std::string_view path) {
  if (path.size() > kName.bytes) {
    const size_t slash = path.find('/', path.size() - kName.bytes - 1);
    if (slash != std::string_view::npos && slash <= kPrefix.bytes) {
      put(block, kPrefix, path.substr(0, slash));
      path.remove_prefix(slash + 1);
    } else {
      path.remove_prefix(path.size() - kName.bytes);
    }
  }
  put(block, kName, path);
}

TarBlock header_of(std::string_view path, size_t bytes) {
  TarBlock block{};
  put_path(block, path);
  put_octal(block, kMode, 0600);
  put_octal(block, kOwner, 0);
  put_octal(block, kGroup, 0);
  put_octal(block, kSize, bytes);
  put_octal(block, kTime, static_cast<uint64_t>(std::time(nullptr)));
  put(block, kType, "0");
  put(block, kMagic, std::string_view("ustar\00000", 8));
  put(block, kChecksum, "        ");
  uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, kChecksum, format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

}  // namespace

struct Bundle::Writer {
  gzFile out = nullptr;
  ~Writer() {
    if (out != nullptr) gzclose(out);
  }
  bool write(const void* bytes, size_t count) const {
    return count == 0 || gzfwrite(bytes, 1, count, out) == count;
  }
};

Result<std::unique_ptr<Bundle>> Bundle::create(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0)
    return fail(ErrorCode::kInvalidArgument, format("{} exists already: name another file", path), "collect");
  std::unique_ptr<Bundle> bundle(new Bundle);
  bundle->path_ = path;
  bundle->partial_path_ = path + ".partial";
  bundle->writer_ = std::make_unique<Writer>();
  const int descriptor =
      ::open(bundle->partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0)
    return fail(ErrorCode::kInvalidArgument, format("{} cannot be written: {}", path, std::strerror(errno)),
                "collect");
  bundle->writer_->out = gzdopen(descriptor, "wb6");
  if (bundle->writer_->out == nullptr) {
    ::close(descriptor);
    return Unexpected(bundle->failure().error());
  }
  return bundle;
}

Bundle::~Bundle() {
  writer_ = nullptr;
  if (!closed_ && !partial_path_.empty()) ::unlink(partial_path_.c_str());
}

Status Bundle::failure() const {
  return fail(ErrorCode::kResourceExhausted, format("{} cannot be written: {}", path_, std::strerror(errno)),
              "collect");
}

Status Bundle::add(const std::string& name, std::string_view text) {
  const TarBlock header = header_of(name, text.size()), padding{};
  const size_t rest = (kTarBlock - text.size() % kTarBlock) % kTarBlock;
  if (!writer_->write(header.data(), kTarBlock) || !writer_->write(text.data(), text.size()) ||
      !writer_->write(padding.data(), rest))
    return failure();
  ++files_;
  return {};
}

Status Bundle::close() {
  const TarBlock end{};
  if (!writer_->write(end.data(), kTarBlock) || !writer_->write(end.data(), kTarBlock)) return failure();
  const int closed = gzclose(writer_->out);
  writer_->out = nullptr;
  if (closed != Z_OK) return failure();
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0)
    return fail(ErrorCode::kResourceExhausted,
                format("{} cannot be written: {}", path_, std::strerror(errno)), "collect");
  closed_ = true;
  return {};
}

}  // namespace pagoda::faults
