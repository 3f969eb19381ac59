#include "model/hugging_face/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace pagoda::model {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

class Safetensors : public testing::Test {
 protected:
  Result<SafetensorsFile> open(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return SafetensorsFile::open(path_);
  }
  std::string fault_of(const std::string& bytes) {
    const auto file = open(bytes);
    return file ? "no fault" : file.error().message;
  }

  const std::string path_ = testing::TempDir() + "pagoda_safetensors_test.safetensors";
};

TEST_F(Safetensors, GivesViewsOfTheBytes) {
  const auto file = open(file_of(R"({"__metadata__":{"format":"pt"},
      "a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},
      "scalar":{"dtype":"BF16","shape":[],"data_offsets":[8,10]},
      "mask":{"dtype":"BOOL","shape":[1],"data_offsets":[10,11]}})",
                                 std::string(11, '\1')));
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 2u) << "masks are passed over";
  const TensorView& a = file->tensors().at("a");
  EXPECT_EQ(a.dtype, DType::kF32);
  EXPECT_EQ(a.shape, (Shape{2, 1}));
  EXPECT_EQ(static_cast<int>(a.data[7]), 1);
  EXPECT_EQ(file->tensors().at("scalar").shape, (Shape{1}));
}

TEST_F(Safetensors, NamesWhatIsBroken) {
  EXPECT_THAT(fault_of("1234567"), HasSubstr("cut off in its header"));
  EXPECT_THAT(fault_of(std::string(8, '\xff')), HasSubstr("cut off in its header"));
  EXPECT_THAT(fault_of(file_of("{\"a\":", "")), HasSubstr("no JSON object"));
  EXPECT_THAT(fault_of(file_of("[]", "")), HasSubstr("no JSON object"));
  const auto entry = [&](const std::string& fields) {
    return fault_of(file_of(R"({"a":{)" + fields + "}}", "12345678"));
  };
  EXPECT_THAT(entry(R"("dtype":"F32")"), HasSubstr("the tensor a: its entry lacks"));
  EXPECT_THAT(entry(R"("dtype":"F8_E5M2","shape":[8],"data_offsets":[0,8])"), HasSubstr("of type F8_E5M2"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,16])"), HasSubstr("past the end"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), HasSubstr("past the end"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
              HasSubstr("8 bytes do not hold the shape [3]"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), HasSubstr("no sensible number"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,8])"),
              HasSubstr("more elements"));
  EXPECT_THAT(entry(R"("dtype":"F32","shape":[1,1,1,1,2],"data_offsets":[0,8])"),
              HasSubstr("too many dimensions"));
}

}  // namespace
}  // namespace pagoda::model
