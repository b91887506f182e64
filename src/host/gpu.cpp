// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/gpu.hpp"

#include <map>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack::host {
namespace {

constexpr const char* kProcFolder = "/proc/driver/nvidia/gpus";
constexpr const char* kPciFolder = "/sys/bus/pci/devices";
constexpr std::string_view kNvidia = "10de";

// 1.3 MB in 2023.
constexpr std::size_t kPciIdsMax = 16U << 20U;

// The largest machines have 16.
constexpr std::size_t kGpusMax = 1'024;

/// The value of "Model: \t\t NVIDIA A100" and its like.
std::string field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return {};
}

/// "10de" of a file that holds "0x10de".
std::string id_in(const HostRoot& root, const std::string& path) {
  const HostText file = root.read(path);
  std::string_view text = trim(file.text);
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
  }
  return std::string(text);
}

std::string name_in_brackets(std::string_view name) {
  const std::size_t begin = name.find('[');
  const std::size_t end = name.rfind(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return {};
  }
  return std::string(name.substr(begin + 1, end - begin - 1));
}

void add_from_proc(const HostRoot& root, std::map<std::string, Gpu>& gpus) {
  for (const std::string& address : root.list(kProcFolder)) {
    const std::string path = std::string(kProcFolder) + "/" + address + "/information";
    const HostText file = root.read(path);
    if (file.state == HostText::State::absent || gpus.size() == kGpusMax) {
      continue;
    }
    Gpu gpu{.name = field(file.text, "Model"), .origin = path, .address = address};
    if (gpu.name == "Unknown") {
      gpu.name.clear();
    }
    gpu.named_by_driver = !gpu.name.empty();
    gpu.uuid = field(file.text, "GPU UUID");
    if (gpu.uuid.find('?') != std::string::npos) {
      gpu.uuid.clear();  // the driver writes question marks until the GPU is first used
    }
    gpus.emplace(address, std::move(gpu));
  }
}

class PciNames {
 public:
  explicit PciNames(const HostRoot& root) : root_(root) {}

  std::pair<std::string, std::string> find(const std::string& device, const std::string& vendor,
                                           const std::string& subsystem) {
    for (const char* const path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"}) {
      if (file_.state != HostText::State::read) {
        file_ = root_.read(path, kPciIdsMax);
        path_ = path;
      }
    }
    return {find_pci_name(file_.text, device, vendor, subsystem), path_};
  }

 private:
  const HostRoot& root_;
  HostText file_;
  std::string path_;
};

/// A VGA or 3D controller of NVIDIA's: its sound and USB devices stand beside it.
void add_from_pci(const HostRoot& root, std::map<std::string, Gpu>& gpus) {
  PciNames names(root);
  for (const std::string& address : root.list(kPciFolder)) {
    const std::string folder = std::string(kPciFolder).append("/").append(address);
    if (id_in(root, folder + "/vendor") != kNvidia ||
        !id_in(root, folder + "/class").starts_with("03") || gpus.size() == kGpusMax) {
      continue;
    }
    const std::string device = id_in(root, folder + "/device");
    const std::string vendor = id_in(root, folder + "/subsystem_vendor");
    const std::string subsystem = id_in(root, folder + "/subsystem_device");
    Gpu& gpu = gpus.try_emplace(address, Gpu{.name = {}, .origin = folder, .address = address})
                   .first->second;
    gpu.pci_id = std::string(kNvidia) + ":";
    gpu.pci_id += device;
    if (!vendor.empty() && !subsystem.empty()) {
      gpu.pci_id.append(", subsystem ").append(vendor).append(":").append(subsystem);
    }
    if (gpu.name.empty()) {
      auto [name, where] = names.find(device, vendor, subsystem);
      if (!name.empty()) {
        gpu.name = std::move(name);
        gpu.origin = where + ", by its PCI id " + gpu.pci_id;
      }
    }
  }
}

}  // namespace

std::string find_pci_name(std::string_view pci_ids, std::string_view device,
                          std::string_view subsystem_vendor, std::string_view subsystem_device) {
  const std::string own =
      "\t\t" + std::string(subsystem_vendor) + " " + std::string(subsystem_device) + "  ";
  const std::string of_device = "\t" + std::string(device) + "  ";
  bool in_vendor = false;
  bool in_device = false;
  std::string found;
  while (!pci_ids.empty()) {
    const std::string_view line = take_line(pci_ids);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (line.front() != '\t') {
      if (in_vendor) {
        break;
      }
      in_vendor = line.starts_with(std::string(kNvidia) + "  ");
    } else if (in_vendor && !line.starts_with("\t\t")) {
      if (in_device) {
        break;
      }
      in_device = line.starts_with(of_device);
      if (in_device) {
        found = name_in_brackets(line);
      }
    } else if (in_device && line.starts_with(own)) {
      const std::string_view name = trim(line.substr(own.size()));
      const std::string inner = name_in_brackets(name);
      return inner.empty() ? std::string(name) : inner;
    }
  }
  return found;
}

std::vector<Gpu> read_gpus(const HostRoot& root) {
  std::map<std::string, Gpu> by_address;
  add_from_proc(root, by_address);
  add_from_pci(root, by_address);
  std::vector<Gpu> gpus;
  gpus.reserve(by_address.size());
  for (auto& [address, gpu] : by_address) {
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace compatpack::host
