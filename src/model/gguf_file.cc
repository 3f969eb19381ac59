#include "model/gguf_file.h"

#include "base/format.h"

namespace pagoda::model {
namespace {

constexpr int64_t kMaxParts = 1000;

// Moves every string of `metadata` from the bytes at `from` to their copy at `to`.
WeightMetadata rebased(const WeightMetadata& metadata, const char* from, const char* to) {
  const auto move = [&](std::string_view text) {
    return std::string_view(to + (text.data() - from), text.size());
  };
  WeightMetadata moved;
  for (const auto& [key, value] : metadata.values()) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      moved.set(key, move(*text));
    } else if (const auto* texts = std::get_if<std::vector<std::string_view>>(&value)) {
      std::vector<std::string_view> copies;
      copies.reserve(texts->size());
      for (const std::string_view text_of : *texts) copies.push_back(move(text_of));
      moved.set(key, std::move(copies));
    } else {
      moved.set(key, value);
    }
  }
  return moved;
}

// "-00001-of-00003.gguf", as the tools that split models write it.
std::string part_suffix(int64_t part, int64_t count) {
  return format("-{:05}-of-{:05}.gguf", part, count);
}

}  // namespace

Result<std::unique_ptr<GgufFile>> GgufFile::open(const std::string& path) {
  std::unique_ptr<GgufFile> source(new GgufFile(path));
  PAGODA_ASSIGN(source->metadata_, source->add_part(path));
  const int64_t parts = source->metadata_.integer("split.count").value_or(1);
  if (parts > 1) PAGODA_TRY(source->add_following_parts(parts));
  return source;
}

Result<WeightMetadata> GgufFile::add_part(const std::string& path) {
  PAGODA_ASSIGN(MappedFile file, MappedFile::open(path));
  PAGODA_ASSIGN(GgufContents contents, parse_gguf(file.bytes(), path));
  const auto* begin = reinterpret_cast<const char*>(file.bytes().data());
  auto part = std::make_unique<Part>(
      Part{std::move(file), std::string(begin, contents.header_bytes), contents.header_bytes});
  for (GgufTensor& tensor : contents.tensors) {
    if (!index_.emplace(tensor.name, tensors_.size()).second)
      return fail(ErrorCode::kCorruptData, format("{}: a tensor of it is in an earlier part too", path));
    tensor_bytes_ += static_cast<int64_t>(tensor.view.row_bytes()) * tensor.view.rows();
    tensors_.push_back(std::move(tensor));
  }
  parts_.push_back(std::move(part));
  parts_.back()->file.release(0, parts_.back()->data_offset);
  return rebased(contents.metadata, begin, parts_.back()->header.data());
}

Status GgufFile::add_following_parts(int64_t count) {
  const int64_t number = metadata_.integer("split.no").value_or(-1);
  if (count > kMaxParts)
    return fail(ErrorCode::kCorruptData,
                format("{}: split.count is {}, more than {}", path_, count, kMaxParts));
  if (number != 0)
    return fail(ErrorCode::kInvalidArgument,
                format("{}: this is part {} of a model in {} files; give the first one (…{})", path_,
                       number + 1, count, part_suffix(1, count)));
  const std::string first = part_suffix(1, count);
  if (!path_.ends_with(first))
    return fail(ErrorCode::kInvalidArgument,
                format("{}: the first of {} files, whose name must end with {} for the others to be found",
                       path_, count, first));
  const std::string stem = path_.substr(0, path_.size() - first.size());
  for (int64_t part = 2; part <= count; ++part) {
    const std::string path = stem + part_suffix(part, count);
    PAGODA_ASSIGN(const WeightMetadata metadata, add_part(path));
    if (metadata.integer("split.no").value_or(-1) != part - 1 ||
        metadata.integer("split.count").value_or(0) != count)
      return fail(ErrorCode::kCorruptData,
                  format("{}: it does not say that it is part {} of {}", path, part, count));
  }
  const int64_t tensors =
      metadata_.integer("split.tensors.count").value_or(static_cast<int64_t>(tensors_.size()));
  if (tensors != static_cast<int64_t>(tensors_.size()))
    return fail(ErrorCode::kCorruptData, format("{}: {} tensors are announced, its {} files hold {}", path_,
                                                tensors, count, tensors_.size()));
  return {};
}

const TensorView* GgufFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second].view;
}

void GgufFile::for_each(const std::function<void(const std::string& name, const TensorView&)>& visit) const {
  for (const GgufTensor& tensor : tensors_) visit(tensor.name, tensor.view);
}

void GgufFile::prefetch() const {
  for (const auto& part : parts_) part->file.prefetch(part->data_offset, part->file.bytes().size());
}

void GgufFile::release_pages() const {
  for (const auto& part : parts_) part->file.release(0, part->file.bytes().size());
}

}  // namespace pagoda::model
