#include "telemetry/entities.h"

#include <gtest/gtest.h>

namespace pagoda::telemetry {
namespace {

driver::MachineSnapshot two_gpus_second_split() {
  driver::MachineSnapshot machine;
  machine.gpus.resize(2);
  machine.gpus[1].index = 1;
  machine.gpus[1].mig.devices.resize(3);
  const unsigned ids[3][2] = {{9, 0}, {2, 1}, {2, 0}};
  for (size_t i = 0; i < 3; ++i) {
    machine.gpus[1].mig.devices[i].gpu_instance = ids[i][0];
    machine.gpus[1].mig.devices[i].compute_instance = ids[i][1];
  }
  return machine;
}

std::string words(const std::vector<EntityId>& ids) {
  std::string out;
  for (const EntityId id : ids) out += to_word(id) + " ";
  return out;
}

TEST(Entities, InstancesAreNumberedThroughInTreeOrder) {
  std::vector<EntityId> ids;
  for (const Entity& entity : entities_of(two_gpus_second_split())) ids.push_back(entity.id);
  EXPECT_EQ(words(ids),
            "gpu:0 gpu:1 instance:8 compute_instance:8 compute_instance:9 instance:9 compute_instance:10 ");
}

TEST(Entities, EverySpelling) {
  const auto entities = entities_of(two_gpus_second_split());
  EXPECT_EQ(words(*parse_entities("0,gpu:1,instance:8,compute_instance:10", entities)),
            "gpu:0 gpu:1 instance:8 compute_instance:10 ");
  EXPECT_EQ(words(*parse_entities("1/2,1/2/1,1/9/0", entities)),
            "instance:8 compute_instance:9 compute_instance:10 ");
  EXPECT_EQ(words(*parse_entities("*", entities)), "gpu:0 gpu:1 ");
  EXPECT_EQ(words(*parse_entities("0,0", entities)), "gpu:0 ");
}

TEST(Entities, MistakesAreNamed) {
  const auto entities = entities_of(two_gpus_second_split());
  EXPECT_EQ(parse_entities("0,7", entities).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(parse_entities("0,7", entities).error().message.substr(0, 18), "There is no GPU 7;");
  EXPECT_EQ(parse_entities("nvswitch:3", entities).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_entities("", entities).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_entities("1/3", entities).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(parse_entities("1/2/0/0", entities).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pagoda::telemetry
