#include "trace/opencl/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/error.h"
#include "trace/format.h"

namespace nearfar::opencl {
namespace {

/// Oclgrind's addresses: the number of a buffer, and in these bits where in it.
constexpr unsigned kOffsetBits = 48;
/// Copies are made of whole lines, of the longest that systems have.
constexpr std::uint64_t kCopyLine = 128;

std::uint64_t buffer_number(std::uint64_t address) { return address >> kOffsetBits; }
std::uint64_t buffer_offset(std::uint64_t address) { return address & ((std::uint64_t{1} << kOffsetBits) - 1); }
std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

/// The slowest dimension that has several workgroups is what the GPUs share.
Dim shared_dimension(const Launch& launch) {
  return launch.groups_z > 1 ? Dim::Z : launch.groups_y > 1 ? Dim::Y : Dim::X;
}

}  // namespace

Recorder::Recorder(TraceSink& sink, const TraceHeader& header, HostEvents host_events)
    : header_(header), writer_(sink, header), counter_(header), host_events_(host_events) {
  addresses_ = [this](const LaneAccess& access) { return touch(access); };
}

void Recorder::take(Message message, std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  need(message == Message::Hello || message == Message::Refuse || began(), in);
  switch (message) {
    case Message::Hello: hello(in); return;
    case Message::Allocate: allocate(in); return;
    case Message::Free: release(in); return;
    case Message::HostRead: host_access(in, false); return;
    case Message::HostWrite: host_access(in, true); return;
    case Message::DeviceCopy: device_copy(in); return;
    case Message::KernelBegin: kernel_begin(in); return;
    case Message::Function:
      need(in_kernel_, in);
      code_.add_function(in);
      return;
    case Message::GroupBegin: group_begin(in); return;
    case Message::Slice: slice(in); return;
    case Message::GroupCopy: group_copy(in); return;
    case Message::Barrier: barrier(in); return;
    case Message::GroupEnd:
      need(in_group_, in);
      group_end();
      return;
    case Message::KernelEnd:
      need(in_kernel_, in);
      kernel_end();
      return;
    case Message::Refuse: throw InputError(in.text());
  }
  in.fail("there is no such message");
}

void Recorder::need(bool holds, const ByteReader& in) const {
  if (!holds) in.fail("a message comes out of turn");
}

void Recorder::hello(ByteReader& in) {
  if (in.number() != kMessagesVersion) in.fail("the plugin is not of this version");
  const std::uint64_t process = in.number();
  if (process_ != 0) {
    throw InputError(
        "Two programs use OpenCL, one after the other or at once, and a trace holds one: record each alone.");
  }
  process_ = process;
}

// ---------------------------------------------------------------------------------------------------------- buffers

void Recorder::allocate(ByteReader& in) {
  const std::uint64_t context = in.number(), address = in.number(), bytes = in.number();
  const std::uint64_t pages = std::max<std::uint64_t>(pages_of(bytes), 1);
  Allocation& allocation = allocations_[{context, buffer_number(address)}];
  allocation = {.bytes = bytes};
  if (const auto unused = unused_.find(pages); unused != unused_.end()) {
    allocation.buffer = unused->second;
    unused_.erase(unused);
    std::uint64_t& most = program_.buffers[allocation.buffer].bytes;
    most = std::max(most, bytes);
    allocation.named = true;
  } else {
    const std::uint64_t span = TraceLimits{}.span_bytes;
    if (pages > span / kPageBytes || next_base_ + pages * kPageBytes - kFirstBuffer.value > span) {
      throw InputError(
          fmt::format("The program's buffers take more than {} GiB, which a trace cannot hold.", span >> 30));
    }
    if (program_.buffers.size() == TraceLimits{}.buffers) {
      throw InputError(
          fmt::format("The program has more than {} buffers, which a trace cannot hold.", TraceLimits{}.buffers));
    }
    allocation.buffer = program_.buffers.size();
    const std::string name = fmt::format("buffer{}", program_.buffers.size() + 1);
    names_.insert(name);
    program_.buffers.push_back({.name = name,
                                .base = VirtAddr{next_base_},
                                .bytes = std::max<std::uint64_t>(bytes, 1),
                                .kernels = {.reads = false, .writes = false}});
    next_base_ += pages * kPageBytes;
  }
  map_.reset();
}

void Recorder::release(ByteReader& in) {
  const std::uint64_t context = in.number(), address = in.number();
  const auto found = allocations_.find({context, buffer_number(address)});
  if (found == allocations_.end()) return;
  const std::uint64_t pages = std::max<std::uint64_t>(pages_of(found->second.bytes), 1);
  unused_.emplace(pages, found->second.buffer);
  allocations_.erase(found);
}

Recorder::Allocation* Recorder::find(std::uint64_t context, std::uint64_t address) {
  const auto found = allocations_.find({context, buffer_number(address)});
  return found == allocations_.end() ? nullptr : &found->second;
}

std::optional<Recorder::Place> Recorder::place(std::uint64_t context, std::uint64_t address, std::uint64_t bytes) {
  const Allocation* allocation = find(context, address);
  const std::uint64_t offset = buffer_offset(address);
  if (allocation == nullptr || offset > allocation->bytes || bytes > allocation->bytes - offset) return std::nullopt;
  return Place{program_.buffers[allocation->buffer].base.value + offset, allocation->buffer};
}

/// Where an access of a kernel lies in the trace, or 0.
std::uint64_t Recorder::touch(const LaneAccess& access) {
  const std::optional<Place> at = place(context_, access.address, access.bytes);
  if (!at) {
    ++notes_.outside;
    return 0;
  }
  KernelUse& use = program_.buffers[at->buffer].kernels;
  use.reads = use.reads || access.tag != LaneTag::Store;
  use.writes = use.writes || access.tag != LaneTag::Load;
  return at->address;
}

// --------------------------------------------------------------------------------------------------------- the host

void Recorder::host_access(ByteReader& in, bool writes) {
  const std::uint64_t context = in.number(), address = in.number(), bytes = in.number();
  const std::optional<Place> at = place(context, address, bytes);
  if (!at || bytes == 0) return;
  transfer({.from = writes ? std::nullopt : at, .to = writes ? at : std::nullopt, .bytes = bytes});
}

void Recorder::device_copy(ByteReader& in) {
  const std::uint64_t context = in.number(), from = in.number(), to = in.number(), bytes = in.number();
  const std::optional<Place> source = place(context, from, bytes), target = place(context, to, bytes);
  if (!source || !target || bytes == 0) return;
  transfer({.from = source, .to = target, .bytes = bytes});
}

/// Pieces that follow one another are one: a fill is told pattern by pattern, a rectangle row by row.
void Recorder::transfer(const Transfer& what) {
  const auto follows = [this](const std::optional<Place>& before, const std::optional<Place>& next) {
    if (!before || !next) return before.has_value() == next.has_value();
    return before->buffer == next->buffer && before->address + pending_->bytes == next->address;
  };
  if (pending_ && follows(pending_->from, what.from) && follows(pending_->to, what.to)) {
    pending_->bytes += what.bytes;
    return;
  }
  put_transfer();
  pending_ = what;
}

void Recorder::put_transfer() {
  if (!pending_) return;
  const Transfer what = *pending_;
  pending_.reset();
  if (host_events_ == HostEvents::None) return;
  if (program_.steps.size() >= TraceLimits{}.steps - 2) {
    throw InputError(
        fmt::format("The program has more than {} steps, which a trace cannot hold.", TraceLimits{}.steps));
  }
  if (host_events_ == HostEvents::Accesses) {
    if (what.from) program_.steps.push_back(HostAccess{VirtAddr{what.from->address}, what.bytes, false});
    if (what.to) program_.steps.push_back(HostAccess{VirtAddr{what.to->address}, what.bytes, true});
    return;
  }
  Copy copy;
  const auto whole_lines = [&](const std::optional<Place>& at, std::optional<VirtAddr>& side) {
    if (!at) return;
    side = VirtAddr{at->address & ~(kCopyLine - 1)};
    const std::uint64_t end = (at->address + what.bytes + kCopyLine - 1) & ~(kCopyLine - 1);
    copy.bytes = std::max(copy.bytes, end - side->value);
  };
  whole_lines(what.from, copy.from);
  whole_lines(what.to, copy.to);
  // Where the sides begin at different places in their lines, one may have come to reach beyond its buffer's pages.
  const auto stay_inside = [&](const std::optional<Place>& at, const std::optional<VirtAddr>& side) {
    if (at) copy.bytes = std::min(copy.bytes, BufferMap::end_of(program_.buffers[at->buffer]) - side->value);
  };
  stay_inside(what.from, copy.from);
  stay_inside(what.to, copy.to);
  program_.steps.push_back(copy);
}

// ---------------------------------------------------------------------------------------------------------- kernels

void Recorder::kernel_begin(ByteReader& in) {
  need(!in_kernel_, in);
  put_transfer();
  context_ = in.number();
  Launch launch;
  launch.kernel = in.text();
  constexpr std::uint64_t kMost = ~std::uint32_t{0};
  for (std::uint32_t* groups : {&launch.groups_x, &launch.groups_y, &launch.groups_z}) {
    *groups = static_cast<std::uint32_t>(in.number(0, kMost, "the grid"));
  }
  launch.size_x = static_cast<std::uint32_t>(in.number(1, kMost, "the size of a workgroup"));
  const std::uint64_t y = in.number(1, 0xffff, "the size of a workgroup");
  const std::uint64_t z = in.number(1, 0xffff, "the size of a workgroup");
  launch.size_y = static_cast<std::uint32_t>(y * z);
  launch.local_bytes = in.number();
  launch.split_dim = shared_dimension(launch);
  if (std::uint64_t{launch.size_x} * launch.size_y > TraceLimits{}.group_items) {
    throw InputError(fmt::format("A workgroup of kernel '{}' has more than {} work-items.", launch.kernel,
                                 TraceLimits{}.group_items));
  }
  name_buffers(in, launch.kernel);
  if (program_.steps.size() >= TraceLimits{}.steps - 2) {
    throw InputError(
        fmt::format("The program has more than {} steps, which a trace cannot hold.", TraceLimits{}.steps));
  }
  in_kernel_ = true;
  next_group_ = 0;
  code_.clear();
  program_.launches.push_back(std::move(launch));
  program_.steps.push_back(LaunchStep{program_.launches.size() - 1});
  if (!map_) map_.emplace(program_.buffers);
}

/// A buffer is called as the argument is by which a kernel first gets it.
void Recorder::name_buffers(ByteReader& in, const std::string& kernel) {
  for (std::size_t left = in.count("buffers"); left > 0; --left) {
    const std::string name = in.text();
    Allocation* allocation = find(context_, in.number());
    if (allocation == nullptr || allocation->named || name.empty()) continue;
    allocation->named = true;
    std::string& now = program_.buffers[allocation->buffer].name;
    names_.erase(now);
    now = name;
    if (names_.contains(now)) now = fmt::format("{}.{}", kernel, name);
    for (unsigned i = 2; names_.contains(now); ++i) now = fmt::format("{}.{}.{}", kernel, name, i);
    names_.insert(now);
  }
}

void Recorder::group_begin(ByteReader& in) {
  need(in_kernel_ && !in_group_, in);
  const Launch& launch = program_.launches.back();
  const std::uint64_t x = in.number(), y = in.number(), z = in.number();
  const std::uint64_t number = (z * launch.groups_y + y) * launch.groups_x + x;
  if (number != next_group_) in.fail("workgroups do not follow one another");
  ++next_group_;
  std::uint64_t items = 1;
  for (unsigned dimension = 0; dimension < 3; ++dimension) items *= in.number(0, launch.items(), "a workgroup's size");
  if (items > launch.items()) in.fail("a workgroup is larger than its launch says");
  waves_.clear();
  for (std::uint64_t first = 0; first < items; first += header_.lanes) {
    waves_.emplace_back(code_, addresses_,
                        static_cast<unsigned>(std::min<std::uint64_t>(header_.lanes, items - first)));
  }
  in_group_ = true;
}

void Recorder::slice(ByteReader& in) {
  need(in_group_, in);
  const std::uint64_t item = in.number();
  if (item >= program_.launches.back().items() || item / header_.lanes >= waves_.size()) {
    in.fail("there is no such work-item");
  }
  waves_[item / header_.lanes].add(static_cast<unsigned>(item % header_.lanes), in.take(in.left()));
}

void Recorder::group_copy(ByteReader& in) {
  need(in_group_, in);
  for (std::size_t left = in.count("accesses"); left > 0; --left) {
    const bool stores = in.number(0, 1, "whether it is a store") != 0;
    const std::uint64_t bytes = in.number(1, kMostLaneBytes, "the bytes of an element");
    group_copy_.push_back({stores ? LaneTag::Store : LaneTag::Load, bytes, in.number()});
  }
}

void Recorder::barrier(ByteReader& in) {
  need(in_group_, in);
  run_phase(true, (in.number() & kGlobalFence) != 0);
}

/// Carries out what all work-items did since the last barrier; then, at a barrier, what the workgroup copied together.
void Recorder::run_phase(bool at_barrier, bool global) {
  std::vector<bool> meets;
  for (WaveWriter& wave : waves_) meets.push_back(wave.run_phase());
  // Elements go to lanes one after another, and wavefronts take turns.
  LaneAddresses lanes;
  for (std::size_t done = 0, turn = 0; done < group_copy_.size(); ++turn) {
    const LaneAccess& like = group_copy_[done];
    lanes.active = 0;
    lanes.rows = {};
    unsigned lane = 0;
    for (; done < group_copy_.size() && lane < header_.lanes; ++done) {
      const LaneAccess& access = group_copy_[done];
      if (access.tag != like.tag || access.bytes != like.bytes) break;
      const std::uint64_t at = touch(access);
      if (at == 0) continue;
      lanes.address[lane] = at;
      lanes.active |= std::uint64_t{1} << lane++;
    }
    if (lane == 0) continue;
    WaveWriter& wave = waves_[turn % waves_.size()];
    wave.local_instructions(1);
    wave.copy(like.tag == LaneTag::Load ? OpKind::Load : OpKind::Store, static_cast<unsigned>(like.bytes), lanes);
  }
  if (!at_barrier) return;
  for (std::size_t w = 0; w < waves_.size(); ++w) {
    if (meets[w]) waves_[w].barrier(global || !group_copy_.empty());
  }
  group_copy_.clear();
}

void Recorder::group_end() {
  run_phase(false, false);
  const std::uint32_t waves = program_.launches.back().waves(header_.lanes);
  for (std::uint32_t w = 0; w < waves; ++w) {
    const ByteVector stream = w < waves_.size() ? waves_[w].take() : ByteVector{};
    check_stream(stream, header_.lanes, *map_);
    counter_.add(stream);
    try {
      writer_.add(stream);
    } catch (const InputError& error) {
      throw InputError(fmt::format("Kernel '{}': {}", kernel(), error.what()));
    }
  }
  waves_.clear();
  in_group_ = false;
}

void Recorder::kernel_end() {
  if (in_group_ || next_group_ != program_.launches.back().groups()) {
    throw InputError(fmt::format("Oclgrind gave up kernel '{}' in workgroup {} of {}; its message says why.", kernel(),
                                 next_group_, program_.launches.back().groups()));
  }
  in_kernel_ = false;
  if (next_group_ == 0) {  // an empty grid does nothing, and a trace has none
    program_.launches.pop_back();
    program_.steps.pop_back();
    return;
  }
  ++notes_.launches;
}

RecordingNotes Recorder::finish() {
  if (in_kernel_) throw InputError(fmt::format("The program ended within kernel '{}'.", kernel()));
  put_transfer();
  if (notes_.launches == 0) throw InputError("The program launched no kernel, so there is nothing to record.");
  writer_.finish(program_, counter_.counts());
  return notes_;
}

}  // namespace nearfar::opencl
