// How attention is shared out: by sequence, KV head and chunk of queries; long contexts also by segments of
// positions. Segment states are merged in order of position either way, so the answer is the same.
#include <algorithm>

#include "kernels/cpu/cpu_compute.h"

namespace pagoda::kernels {
namespace {

constexpr int kSegment = 512;          // positions; a multiple of the span
constexpr size_t kStateBytes = 16384;  // of one chunk's running states: they stay in the first-level cache

int chunk_rows(int group, int head_dim) {
  const size_t state =
      static_cast<size_t>(group) * static_cast<size_t>(head_dim + kPartialExtra) * sizeof(float);
  return static_cast<int>(std::clamp<size_t>(kStateBytes / state, 1, 16));
}

// The first position that any of the rows sees, rounded down to its segment.
int first_segment(int first_position, int window) {
  const int earliest = window > 0 ? std::max(0, first_position - window + 1) : 0;
  return earliest / kSegment * kSegment;
}

}  // namespace

int attention_scratch(int head_dim) {
  return 4 * kKvTile * head_dim;
}

void CpuCompute::write_kv(ConstMatrix k, ConstMatrix v, std::span<const KvSequence> sequences,
                          KvLayer layer) {
  for (const KvSequence& sequence : sequences) {
    for_each_row(sequence.rows, static_cast<size_t>(k.columns), [&](int i) {
      const int row = sequence.first_row + i;
      isa_.write_kv(k.row(row), v.row(row), sequence.context + i, sequence.blocks, layer);
    });
  }
}

AttentionWork CpuCompute::work_of(const AttentionItem& item, ConstMatrix q, const KvLayer& layer,
                                  const AttentionShape& shape) const {
  AttentionWork work;
  work.group = shape.heads / layer.kv_heads;
  work.q = q.row(item.sequence->first_row + item.row) + item.kv_head * work.group * layer.head_dim;
  work.q_stride = q.stride;
  work.rows = item.rows;
  work.first_position = item.sequence->context + item.row;
  work.kv_head = item.kv_head;
  work.begin = item.begin;
  work.end = item.end;
  work.blocks = item.sequence->blocks;
  work.layer = layer;
  work.window = shape.window;
  work.scale = shape.scale;
  return work;
}

// One chunk over all its segments, by one worker.
void CpuCompute::attend_whole(const AttentionItem& item, ConstMatrix q, const KvLayer& layer,
                              const AttentionShape& shape, float* scratch, Matrix y) const {
  const int group = shape.heads / layer.kv_heads;
  const int states = item.rows * group;
  const int state_size = layer.head_dim + kPartialExtra;
  float* running = scratch + attention_scratch(layer.head_dim);
  float* segment = running + static_cast<ptrdiff_t>(states) * state_size;
  AttentionWork work = work_of(item, q, layer, shape);
  for (int begin = item.begin; begin < item.end; begin += kSegment) {
    work.begin = begin;
    work.end = std::min(begin + kSegment, item.end);
    const bool first = begin == item.begin;
    isa_.attend(work, scratch, first ? running : segment);
    if (!first) isa_.merge(running, segment, states, layer.head_dim);
  }
  for (int i = 0; i < states; ++i) {
    const int row = item.sequence->first_row + item.row + i / group;
    const int head = item.kv_head * group + i % group;
    isa_.finish(running + static_cast<ptrdiff_t>(i) * state_size, layer.head_dim,
                y.row(row) + head * layer.head_dim);
  }
}

// Chunks whose segments were computed apart: items of one chunk follow each other in order of position.
void CpuCompute::merge_segments(std::span<const AttentionItem> items, const KvLayer& layer,
                                const AttentionShape& shape, Matrix y) {
  const int group = shape.heads / layer.kv_heads;
  const int state_size = layer.head_dim + kPartialExtra;
  for (size_t i = 0; i < items.size();) {
    const AttentionItem& head_item = items[i];
    const int states = head_item.rows * group;
    float* running = partials_.data() + head_item.partial;
    size_t next = i + 1;
    for (; next < items.size() && items[next].begin > head_item.begin &&
           items[next].kv_head == head_item.kv_head && items[next].row == head_item.row &&
           items[next].sequence == head_item.sequence;
         ++next) {
      isa_.merge(running, partials_.data() + items[next].partial, states, layer.head_dim);
    }
    for (int s = 0; s < states; ++s) {
      const int row = head_item.sequence->first_row + head_item.row + s / group;
      const int head = head_item.kv_head * group + s % group;
      isa_.finish(running + static_cast<ptrdiff_t>(s) * state_size, layer.head_dim,
                  y.row(row) + head * layer.head_dim);
    }
    i = next;
  }
}

void CpuCompute::attention(ConstMatrix q, std::span<const KvSequence> sequences, KvLayer layer,
                           const AttentionShape& shape, Matrix y) {
  const int group = shape.heads / layer.kv_heads;
  const int chunk = chunk_rows(group, layer.head_dim);
  const size_t state_size = static_cast<size_t>(layer.head_dim + kPartialExtra);
  size_t chunks = 0;
  for (const KvSequence& sequence : sequences) {
    chunks += static_cast<size_t>((sequence.rows + chunk - 1) / chunk * layer.kv_heads);
  }
  const bool share_segments = chunks < 2 * static_cast<size_t>(pool_.size());
  items_.clear();
  size_t partial = 0;
  for (const KvSequence& sequence : sequences) {
    for (int kv_head = 0; kv_head < layer.kv_heads; ++kv_head) {
      for (int row = 0; row < sequence.rows; row += chunk) {
        AttentionItem item{&sequence, kv_head, row, std::min(chunk, sequence.rows - row), 0, 0, 0};
        const int end = sequence.context + row + item.rows;
        item.begin = first_segment(sequence.context + row, shape.window);
        if (!share_segments) {
          item.end = end;
          items_.push_back(item);
          continue;
        }
        for (; item.begin < end; item.begin += kSegment) {
          item.end = std::min(item.begin + kSegment, end);
          item.partial = partial;
          partial += static_cast<size_t>(item.rows * group) * state_size;
          items_.push_back(item);
        }
      }
    }
  }
  if (partials_.size() < partial) partials_.resize(partial);
  const size_t scratch_size = static_cast<size_t>(attention_scratch(layer.head_dim)) +
                              2 * static_cast<size_t>(chunk * group) * state_size;
  std::atomic<size_t> next{0};
  pool_.run([&](int worker) {
    std::vector<float>& scratch = attention_scratch_[static_cast<size_t>(worker)];
    if (scratch.size() < scratch_size) scratch.resize(scratch_size);
    for (size_t i = next.fetch_add(1); i < items_.size(); i = next.fetch_add(1)) {
      if (share_segments) {
        isa_.attend(work_of(items_[i], q, layer, shape), scratch.data(),
                    partials_.data() + items_[i].partial);
      } else {
        attend_whole(items_[i], q, layer, shape, scratch.data(), y);
      }
    }
  });
  if (share_segments) merge_segments(items_, layer, shape, y);
}

}  // namespace pagoda::kernels
