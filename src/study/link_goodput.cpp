#include "study/link_goodput.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "interconnect/packet_format.h"
#include "machine/run.h"
#include "machine/system_file.h"
#include "program/workload.h"

namespace nearfar {
namespace {

/// What is stored to lies in the cache of its home after the first time.
constexpr std::uint64_t kRegion = std::uint64_t{1} << 20;
constexpr std::uint32_t kGroups = 80;
/// Instructions of a wavefront, in the shorter and in the longer run: the difference is free of starts and ends.
constexpr std::uint32_t kShort = 10;
constexpr std::uint32_t kLong = 30;
constexpr std::uint64_t kLongCopies = 3;  ///< regions

/// Stores of `bytes` at the beginning of each line: `lanes` lanes of `width` bytes for one line.
Stream store_lines(VirtAddr base, std::uint64_t first, std::uint32_t instructions, std::uint32_t bytes,
                   std::uint32_t line, unsigned lanes_in_wave) {
  const unsigned width = std::min(16U, 1U << std::countr_zero(bytes));
  const unsigned lanes = bytes / width;
  const unsigned lines = lanes_in_wave / lanes;
  for (std::uint32_t i = 0; i < instructions; ++i) {
    const std::uint64_t from = (first + i) * lines;
    co_yield store(width, [=](unsigned lane) {
      if (lane >= lines * lanes) return kIdle;
      return base + (from + lane / lanes) * line % kRegion + lane % lanes * width;
    });
  }
}

/// GPU 0 stores to the memory of GPU 1.
class StoreStream final : public Workload {
 public:
  StoreStream(std::uint32_t instructions, std::uint32_t bytes, const SystemSpec& system)
      : instructions_(instructions),
        bytes_(bytes),
        line_(static_cast<std::uint32_t>(system.gpu.line)),
        lanes_(system.gpu.wavefront) {
    base_ = allocate("stored", 2 * kRegion, Placement::Distribute) + kRegion;
    Launch launch;
    launch.kernel = "store";
    launch.groups_x = 2 * kGroups;
    launch.size_x = lanes_;
    launch.split = Split::Offset;
    add_launch(launch);
  }
  Stream wavefront(std::size_t, const Wave& wave) const override {
    const bool stores = wave.group_x < kGroups;
    return store_lines(base_, std::uint64_t{wave.group_x} * instructions_, stores ? instructions_ : 0, bytes_, line_,
                       lanes_);
  }
  std::uint64_t stores() const {
    const unsigned width = std::min(16U, 1U << std::countr_zero(bytes_));
    return std::uint64_t{kGroups} * instructions_ * (lanes_ / (bytes_ / width));
  }

 private:
  std::uint32_t instructions_;
  std::uint32_t bytes_;
  std::uint32_t line_;
  unsigned lanes_;
  VirtAddr base_;
};

/// The DMA copies from GPU 0 to GPU 1.
class CopyStream final : public Workload {
 public:
  explicit CopyStream(std::uint64_t bytes) {
    const VirtAddr base = allocate("copied", 2 * kLongCopies * kRegion, Placement::Distribute);
    add_copy({.from = base, .to = base + kLongCopies * kRegion, .bytes = bytes});
  }
  Stream wavefront(std::size_t, const Wave&) const override { return {}; }
};

Cycle cycles_of(const SystemSpec& system, std::shared_ptr<const Workload> workload) {
  RunRequest request;
  request.system = system;
  request.applications = {std::move(workload)};
  return run(request).cycles;
}

}  // namespace

std::vector<std::uint32_t> goodput_sizes() {
  return {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096};
}

SystemSpec goodput_system(const std::string& system, const std::string& format,
                          std::span<const std::string> overrides) {
  // The closed form has no link-layer packets, those for requests and completions of copies among them.
  std::vector<std::string> all = {"gpus=2", "boundary.write_back=false", "link.format=" + format,
                                  "host.dma.outstanding=4096", "link.pcie.dllp=false"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_system(system, all).spec;
}

LinkGoodput measure_goodput(const SystemSpec& system, std::uint32_t bytes) {
  LinkGoodput result;
  result.bytes = bytes;
  const auto format = make_packet_format(system.link, system.gpu.line);
  if (bytes <= system.gpu.line) {
    const auto brief = std::make_shared<StoreStream>(kShort, bytes, system);
    const auto full = std::make_shared<StoreStream>(kLong, bytes, system);
    result.wire_bytes = format->store(ByteMask::range(0, bytes)).bytes;
    result.transfers = full->stores() - brief->stores();
    result.cycles = cycles_of(system, full) - cycles_of(system, brief);
  } else {
    SystemSpec copying = system;
    copying.host.dma.chunk = bytes;
    result.wire_bytes = format->write(0, bytes).bytes;
    result.transfers = (kLongCopies - 1) * kRegion / bytes;
    result.cycles = cycles_of(copying, std::make_shared<CopyStream>(kLongCopies * kRegion)) -
                    cycles_of(copying, std::make_shared<CopyStream>(kRegion));
  }
  const auto link = static_cast<double>(system.link.bandwidth.bytes_per_second);
  const double carried = static_cast<double>(system.link.packet_rate().bytes_per_second) / link;
  result.closed_form = static_cast<double>(bytes) / result.wire_bytes * carried;
  const double seconds = static_cast<double>(result.cycles) / static_cast<double>(system.gpu.clock.hertz);
  result.measured = static_cast<double>(result.transfers) * bytes / seconds / link;
  return result;
}

}  // namespace nearfar
