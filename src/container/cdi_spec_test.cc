#include "container/cdi_spec.h"

#include <gmock/gmock.h>

#include "container/structured_text.h"

namespace pagoda::container {
namespace {

CdiSpec small() {
  CdiSpec spec;
  spec.kind = "nvidia.com/gpu";
  CdiDevice device{"gpu0", {}, {}};
  device.edits.device_nodes.emplace_back();
  device.edits.device_nodes.back().path = "/dev/nvidia0";
  spec.devices.push_back(device);
  return spec;
}

TEST(CdiSpec, TheLeastVersionThatSuffices) {
  CdiSpec spec = small();
  EXPECT_EQ(least_cdi_version(spec), "0.3.0");
  spec.devices[0].edits.mounts.push_back({"/a", "/a", {}, "bind"});
  EXPECT_EQ(least_cdi_version(spec), "0.4.0");
  spec.devices[0].name = "0";
  EXPECT_EQ(least_cdi_version(spec), "0.5.0");
  spec.devices[0].annotations["a"] = "b";
  EXPECT_EQ(least_cdi_version(spec), "0.6.0");
  spec.edits.additional_gids = {44};
  EXPECT_EQ(least_cdi_version(spec), "0.7.0");
}

TEST(CdiSpec, ComesBackFromBothForms) {
  CdiSpec spec = small();
  spec.devices[0].name = "0";
  spec.edits.environment = {"A=no", "B=: x"};
  spec.edits.hooks.push_back({"createContainer", "/h", {"h", "--x", "a::b"}, {"LC_ALL=C"}, 3});
  spec.edits.mounts.push_back({"/tmp/with space", "/a#b", {"ro"}, ""});
  spec.devices[0].edits.device_nodes[0] = {"/dev/x", "/y/dev/x", "c", 195, 0, 0666, 1, 2, "rw"};
  spec.version = least_cdi_version(spec);
  for (const auto form : {CdiFormat::kYaml, CdiFormat::kJson}) {
    const std::string text = cdi_spec_text(spec, form);
    const auto back = parse_cdi_spec(text, form);
    ASSERT_TRUE(back) << back.error().message << text;
    EXPECT_EQ(cdi_spec_text(*back, form), text);
  }
}

TEST(CdiSpec, NamesThatOtherReadersTakeForNumbersAreQuoted) {
  EXPECT_EQ(yaml_text({{"name", "0"}, {"on", "true"}, {"n", 5}, {"s", "a b"}, {"p", "/dev/x"}}),
            "name: \"0\"\n\"on\": \"true\"\n\"n\": 5\ns: \"a b\"\np: /dev/x\n");
}

TEST(CdiSpec, Names) {
  EXPECT_TRUE(parse_cdi_name("nvidia.com/gpu=0:1"));
  EXPECT_TRUE(parse_cdi_name("nvidia.com/gpu=GPU-8b7e6d5c"));
  for (const auto* text : {"nvidia.com/gpu", "nvidia.com=0", "/gpu=0",
                           "nvidia.com/gpu=", "nvidia.com/gpu=a b", "1a/gpu=0", "nvidia.com/gpu=-a"}) {
    EXPECT_FALSE(parse_cdi_name(text)) << text;
  }
}

TEST(CdiSpec, FaultsNameTheirPlace) {
  const auto fault = [](std::string_view text) {
    const auto spec = parse_cdi_spec(text, CdiFormat::kYaml);
    return spec ? std::string("none") : spec.error().message;
  };
  EXPECT_THAT(fault("cdiVersion: 0.5.0\nkind: a.b/c\ndevices:\n- name: a\n  containerEdits:\n    mounts:\n   "
                    " - containerPath: /x\n"),
              testing::HasSubstr("devices[0].containerEdits.mounts[0]: hostPath is missing"));
  EXPECT_THAT(fault("cdiVersion: 0.5.0\nkind: a.b/c\ndevices:\n- name: a\n  containerEdits:\n    hooks:\n    "
                    "- {hookName: x, path: /x}\n"),
              testing::HasSubstr("hookName 'x' is none of"));
  EXPECT_THAT(fault("cdiVersion: 9.9.9\nkind: a.b/c\n"),
              testing::HasSubstr("cdiVersion '9.9.9' is not known"));
  EXPECT_THAT(fault("a: 1\na: 2\n"), testing::HasSubstr("twice"));
  EXPECT_THAT(fault("- x\n"), testing::HasSubstr("is no map"));
}

}  // namespace
}  // namespace pagoda::container
