#include "driver/pci_devices.h"

#include <charconv>

#include "base/format.h"

namespace pagoda::driver {
namespace {

constexpr std::string_view kPciFolder = "/sys/bus/pci/devices";
constexpr const char* kPciIdsPlaces[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids",
                                         "/var/lib/pciutils/pci.ids"};

uint32_t hex_number(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

PciDevice read_device(const HostRoot& root, const std::string& address) {
  const std::string folder = format("{}/{}", kPciFolder, address);
  const auto text = [&](std::string_view name) { return root.read_text(format("{}/{}", folder, name)); };
  const auto id = [&](std::string_view name) { return static_cast<uint16_t>(hex_number(text(name))); };
  PciDevice device;
  device.address = address;
  device.sysfs_path = root.resolve(folder).value_or(folder);
  device.vendor = id("vendor");
  device.device = id("device");
  device.subsystem_vendor = id("subsystem_vendor");
  device.subsystem_device = id("subsystem_device");
  device.device_class = hex_number(text("class"));
  device.modalias = text("modalias");
  device.kernel_driver = last_part(root.link_text(folder + "/driver").value_or(""));
  device.link_speed = text("current_link_speed");
  device.link_speed_max = text("max_link_speed");
  device.link_width = text("current_link_width");
  device.link_width_max = text("max_link_width");
  return device;
}

std::string pci_ids_text(const HostRoot& root) {
  for (const char* place : kPciIdsPlaces) {
    if (auto text = root.read(place)) return *text;
  }
  return "";
}

void name_device(PciDevice& device, const std::map<uint16_t, std::string>& names) {
  const Board* board = find_board(device.device);
  if (const auto known = names.find(device.device); known != names.end()) {
    device.name = known->second;
  } else if (board != nullptr) {
    device.name = format("{} [{}]", board->chip, board->name);
  }
  device.chip = chip_in_pci_name(device.name);
  if (device.chip == nullptr && board != nullptr) device.chip = find_chip(board->chip);
  if (device.chip == nullptr) device.chip = chip_of_device(device.device);
}

}  // namespace

bool PciDevice::needs_open_module() const {
  const Board* board = find_board(device);
  return (board != nullptr && board->open_only) ||
         (chip != nullptr && chip->open_module == OpenModule::kRequired);
}

std::string PciDevice::board_name() const {
  const size_t open = name.find('['), close = name.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return name.empty() ? format("device {:04x}", device) : name;
  }
  return name.substr(open + 1, close - open - 1);
}

std::vector<PciDevice> find_nvidia_pci_devices(const HostRoot& root) {
  std::vector<PciDevice> devices;
  for (const auto& address : root.list(kPciFolder)) {
    if (hex_number(root.read_text(format("{}/{}/vendor", kPciFolder, address))) != kNvidiaVendor) continue;
    PciDevice device = read_device(root, address);
    if (device.is_gpu() || device.is_nvswitch()) devices.push_back(std::move(device));
  }
  if (devices.empty()) return devices;
  const auto names = read_pci_ids(pci_ids_text(root), kNvidiaVendor);
  for (auto& device : devices) name_device(device, names);
  return devices;
}

std::map<uint16_t, std::string> read_pci_ids(std::string_view text, uint16_t vendor) {
  std::map<uint16_t, std::string> names;
  const std::string wanted = format("\n{:04x}  ", vendor);
  size_t position = text.starts_with(std::string_view(wanted).substr(1)) ? 0 : text.find(wanted);
  if (position == std::string_view::npos) return names;
  position = text.find('\n', position + 1);
  while (position != std::string_view::npos && position + 1 < text.size()) {
    const size_t end = std::min(text.find('\n', position + 1), text.size());
    const std::string_view line = text.substr(position + 1, end - position - 1);
    position = end;
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != '\t') break;                                          // the next vendor
    if (line.size() < 8 || line[1] == '\t' || line[5] != ' ') continue;  // a subsystem's name
    names[static_cast<uint16_t>(hex_number(line.substr(1, 4)))] = line.substr(7);
  }
  return names;
}

}  // namespace pagoda::driver
