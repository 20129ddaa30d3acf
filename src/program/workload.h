// A workload: buffers, a sequence of steps over them (kernel launches, copies, work of the host), and the stream of
// every wavefront. It is immutable once made, so any number of partitions may read it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "program/stream.h"
#include "sim/types.h"

namespace nearfar {

/// Where the pages of a buffer live at the start (the system may overrule it: `placement.initial`).
enum class Placement : std::uint8_t {
  Distribute,  ///< contiguous run of pages/G pages on each GPU, the rest on the last; too few pages: all on GPU 0
  Interleave,  ///< page by page round robin over the GPUs, one running counter through all allocations
  Private,     ///< one copy on every GPU (small read-only tables)
  Host,        ///< all on the host
  Multicast,   ///< nowhere: at the switch, which stands for the same pages of several buffers (Buffer::members)
};

/// The buffers that a multicast buffer stands for: a store to it is one to each of them, a load of it adds them up.
struct MulticastMembers {
  VirtAddr first;           ///< page aligned, as all of them are
  std::uint64_t apart = 0;  ///< bytes from one to the next
  std::uint64_t count = 0;
};

/// What kernels do with a buffer: a management of memory that copies goes by it.
struct KernelUse {
  bool reads = true;
  bool writes = true;
  bool overwrites = false;  ///< every byte in use, and before it is read, if ever
  std::uint64_t bytes = 0;  ///< in use, from its beginning on; 0: all
};
inline constexpr KernelUse kOnlyRead{.writes = false};
inline constexpr KernelUse kOverwritten{.reads = false, .overwrites = true};

struct Buffer {
  std::string name;
  VirtAddr base;  ///< page aligned
  std::uint64_t bytes = 0;
  Placement placement = Placement::Distribute;
  KernelUse kernels = {};
  MulticastMembers members{};  ///< Placement::Multicast

  std::uint64_t used_bytes() const { return kernels.bytes == 0 ? bytes : kernels.bytes; }
};

/// Pages of 4 KiB that lie on one device at the start, whatever the placement of their buffer.
struct PageHome {
  static constexpr std::uint16_t kHost = 0xffff;

  VirtPage first;
  std::uint64_t pages = 0;
  std::uint16_t device = 0;  ///< one of the application's GPUs, or kHost
};

/// Which workgroups go to which GPU (the system may overrule it: `dispatch.policy`).
enum class Split : std::uint8_t {
  Offset,      ///< GPU g gets the g-th of G equal runs of the split dimension
  Blocks,      ///< GPU g gets flattened workgroups [g·q, (g+1)·q), q = CUs per GPU · ceil(groups / all CUs)
  RoundRobin,  ///< workgroup w runs on GPU w mod G
  Greedy,      ///< in flattened order to GPU 0 until it is full, then GPU 1, …; afterwards to whichever has room
  Listed,      ///< each workgroup where the launch's `places` say
};

/// Where each workgroup of a launch runs, by its flattened number.
struct GroupPlaces {
  std::vector<std::uint16_t> gpu;  ///< of the application's
  std::vector<std::uint16_t> cu;   ///< of that GPU; empty: any
};

enum class Dim : std::uint8_t { X, Y, Z };

struct Launch {
  std::string kernel;                                      ///< name of the kernel, for statistics
  std::uint32_t groups_x = 1, groups_y = 1, groups_z = 1;  ///< grid, in workgroups
  std::uint32_t size_x = 64, size_y = 1;                   ///< workgroup, in items
  std::uint64_t local_bytes = 0;                           ///< local memory a workgroup takes
  Split split = Split::Offset;
  Dim split_dim = Dim::X;
  std::shared_ptr<const GroupPlaces> places = nullptr;  ///< of Split::Listed

  std::uint64_t groups() const { return std::uint64_t{groups_x} * groups_y * groups_z; }
  std::uint32_t items() const { return size_x * size_y; }
  std::uint32_t waves(std::uint32_t lanes) const { return (items() + lanes - 1) / lanes; }
  /// Wavefront `index` of workgroup `group`, counted as groups_y and groups_x say, x fastest.
  Wave wave(std::uint64_t group, std::uint32_t index, std::uint32_t lanes) const;
};

/// A launch among the steps, by its number.
struct LaunchStep {
  std::size_t launch = 0;
};

/// The host's DMA copies whole lines: from where the pages of `from` lie to where those of `to` lie. A side without an
/// address is memory of the host outside the address space, where a program prepares its input and finds its result.
struct Copy {
  std::optional<VirtAddr> from;
  std::optional<VirtAddr> to;
  std::uint64_t bytes = 0;  ///< of each row
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;  ///< bytes from a row to the next, at both sides
  bool wait = true;  ///< the next step begins when it has ended; else it goes on beside the steps up to the next Sync
};

/// The host computes, and the application's GPUs wait.
struct HostPhase {
  Cycle cycles = 0;
};

/// The host reads or writes a range of a buffer, line by line in order, and the application's GPUs wait.
struct HostAccess {
  VirtAddr first;
  std::uint64_t bytes = 0;
  bool writes = false;
};

/// Pages of a buffer go from the host's own copy of it to the GPUs, or back. No program says so: a management of memory
/// that keeps two copies does (memory_management.h).
struct Transfer {
  VirtAddr first;
  std::uint64_t bytes = 0;
  bool to_host = false;
};

/// Waits for the copies that nobody has waited for. The end of a workload is one.
struct Sync {};

/// Steps follow one another: each begins when the one before has ended.
using Step = std::variant<LaunchStep, Copy, HostPhase, HostAccess, Transfer, Sync>;

/// A collective operation among ranks, by which its bandwidth is told: algorithm bandwidth is `bytes` over time, and
/// bus bandwidth `bus_factor` times as much.
struct CollectiveWork {
  std::uint64_t bytes = 0;  ///< of the buffer of a rank, for every time that the operation runs
  double bus_factor = 1;
};

/// Buffers follow each other from here on; what lies below belongs to nobody.
inline constexpr VirtAddr kFirstBuffer{std::uint64_t{4} << 30};

class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<Launch>& launches() const { return launches_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// The stream of one wavefront of one launch.
  virtual Stream wavefront(std::size_t launch, const Wave& wave) const = 0;
  /// The GPUs that it is made for: each has a part of its own. 0: any number.
  virtual std::uint64_t gpus() const { return 0; }
  /// The lanes of the wavefronts that it is made for. 0: any number.
  virtual std::uint32_t lanes() const { return 0; }
  /// Where single pages lie, in ascending order; the others lie where their buffers' placements put them. A system's
  /// own initial placement overrules them, but not in private buffers.
  virtual std::span<const PageHome> page_homes() const { return {}; }
  /// Of a workload that is one collective operation.
  virtual std::optional<CollectiveWork> collective() const { return std::nullopt; }

 protected:
  /// Gives a buffer the next page-aligned virtual addresses.
  VirtAddr allocate(std::string name, std::uint64_t bytes, Placement placement, const KernelUse& kernels = {});
  /// The same for a buffer of the switch's, as long as its members are apart at most.
  VirtAddr allocate_multicast(std::string name, std::uint64_t bytes, const MulticastMembers& members);
  /// A buffer that has its virtual addresses already.
  void add_buffer(Buffer buffer) { buffers_.push_back(std::move(buffer)); }
  void add_launch(Launch launch);
  void add_copy(const Copy& copy);
  /// A whole buffer comes from the host's own memory, or goes there.
  void add_copy_in(VirtAddr buffer) { add_copy({.from = {}, .to = buffer, .bytes = bytes_of(buffer)}); }
  void add_copy_out(VirtAddr buffer) { add_copy({.from = buffer, .to = {}, .bytes = bytes_of(buffer)}); }
  void add_host_phase(Cycle cycles) { steps_.push_back(HostPhase{cycles}); }
  void add_host_access(const HostAccess& access);
  /// The host reads, or writes, all of a buffer that kernels use.
  void add_host_read(VirtAddr buffer) { add_host_access({buffer, used_bytes_of(buffer), false}); }
  void add_host_write(VirtAddr buffer) { add_host_access({buffer, used_bytes_of(buffer), true}); }
  /// The host fills all buffers: inputs with data, outputs with zeroes.
  void add_host_preparation();
  void add_sync() { steps_.push_back(Sync{}); }
  /// Any step but a launch.
  void add_step(const Step& step) { steps_.push_back(step); }

 private:
  const Buffer& buffer_at(VirtAddr base) const;
  std::uint64_t bytes_of(VirtAddr buffer) const { return buffer_at(buffer).bytes; }
  std::uint64_t used_bytes_of(VirtAddr buffer) const { return buffer_at(buffer).used_bytes(); }
  VirtAddr next_base(Placement placement) const;

  std::vector<Buffer> buffers_;
  std::vector<Launch> launches_;
  std::vector<Step> steps_;
};

}  // namespace nearfar
