// Takes tensors from a weight source by name, checks their shapes, and packs them for one precision.
// The first fault is kept; later calls return empty weights, so that an architecture reads as a list.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "model/linear.h"
#include "model/model.h"

namespace pagoda::model {

// kAuto as the file's weights decide it; any other as it is.
Precision resolved_precision(const WeightSource& source, Precision wanted);

// What load_model packs the source's tensors into, before it does: Model::weight_bytes() within 1 %.
int64_t packed_weight_bytes(const WeightSource& source, Precision precision);

class WeightLoader {
 public:
  WeightLoader(const WeightSource& source, Precision precision, ThreadPool& pool);

  Precision precision() const { return precision_; }  // never kAuto
  bool has(const std::string& name) const { return source_.find(name) != nullptr; }

  struct Part {
    std::string name;
    int rows;
  };
  Linear linear(std::initializer_list<Part> parts, int columns);
  std::vector<float> vector(const std::string& name, int size);

  // What the calls so far found wrong.
  Status status() const;
  int64_t bytes() const { return bytes_; }

 private:
  const TensorView* take(const std::string& name, const Shape& shape);
  kernels::PackedFormat format_of(DType dtype) const;
  void note(Error error);

  const WeightSource& source_;
  Precision precision_;
  ThreadPool& pool_;
  int64_t bytes_ = 0;
  std::optional<Error> error_;
};

}  // namespace pagoda::model
