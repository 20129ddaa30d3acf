// The header, the program and the index of a trace as bytes. Every rule that a reader relies on is checked here.
#include "trace/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/error.h"
#include "trace/buffer_map.h"

namespace nearfar {
namespace {

/// Steps by their numbers in a file.
enum class StepCode : std::uint8_t { Launch = 1, Copy = 2, HostPhase = 3, Sync = 4, HostAccess = 5 };

/// What kernels do with a buffer stands above the three bits of its placement: 0 if it is the usual.
constexpr unsigned kUseShift = 3;

constexpr std::uint64_t kMostU32 = 0xffff'ffff;
constexpr std::uint64_t kMostU64 = ~std::uint64_t{0};

void put_real(ByteVector& out, double value) { put_number(out, std::bit_cast<std::uint64_t>(value)); }

// --- buffers and homes

Buffer decode_buffer(ByteReader& in) {
  Buffer buffer;
  buffer.name = in.text();
  buffer.base = VirtAddr{in.number(0, kTraceAddresses - 1, "the address of a buffer")};
  buffer.bytes = in.number(1, kTraceAddresses - buffer.base.value, "the size of a buffer");
  const std::uint64_t how = in.number(0, (std::uint64_t{9} << kUseShift) - 1, "the placement of a buffer");
  const std::uint64_t placement = how & ((1U << kUseShift) - 1);
  if (placement > static_cast<std::uint64_t>(Placement::Host)) in.fail("a buffer has a placement that there is not");
  buffer.placement = static_cast<Placement>(placement);
  if (const std::uint64_t use = how >> kUseShift; use != 0) {
    buffer.kernels = {((use - 1) & 1) != 0, ((use - 1) & 2) != 0, ((use - 1) & 4) != 0,
                      in.number(0, buffer.bytes, "the bytes of a buffer in use")};
  }
  if (buffer.base.value % kPageBytes != 0) in.fail(fmt::format("buffer '{}' begins inside a page", buffer.name));
  return buffer;
}

void encode_placement(const Buffer& buffer, ByteVector& out) {
  const KernelUse& kernels = buffer.kernels;
  const bool usual = kernels.reads && kernels.writes && !kernels.overwrites && kernels.bytes == 0;
  const std::uint64_t use = 1 + (kernels.reads ? 1U : 0U) + (kernels.writes ? 2U : 0U) + (kernels.overwrites ? 4U : 0U);
  put_number(out, static_cast<std::uint64_t>(buffer.placement) | (usual ? 0 : use << kUseShift));
  if (!usual) put_number(out, kernels.bytes);
}

void check_buffers(const ByteReader& in, const BufferMap& map, const TraceLimits& limits) {
  const auto& ranges = map.ranges();
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i - 1].end) continue;
    in.fail(fmt::format("buffers '{}' and '{}' overlap", ranges[i - 1].buffer->name, ranges[i].buffer->name));
  }
  if (ranges.empty() || ranges.back().end - ranges.front().begin <= limits.span_bytes) return;
  in.fail(fmt::format("its buffers lie {} B apart, and at most {} B are possible",
                      ranges.back().end - ranges.front().begin, limits.span_bytes));
}

PageHome decode_home(ByteReader& in, const BufferMap& map, std::uint64_t& next) {
  PageHome home;
  next += in.number(0, kTraceAddresses >> kPageShift, "the distance to a page with a home");
  home.first = VirtPage{next};
  home.pages = in.number(1, kTraceAddresses >> kPageShift, "the pages of a home");
  home.device = static_cast<std::uint16_t>(in.number(0, PageHome::kHost, "the home of a page"));
  if (home.device >= kMaxGpus && home.device != PageHome::kHost) in.fail("the home of a page is no device");
  if (next >= kTraceAddresses >> kPageShift) in.fail("the home of a page lies beyond all addresses");
  const BufferMap::Range* range = map.find(next << kPageShift);
  if (range == nullptr || (next + home.pages) << kPageShift > range->end) {
    in.fail(fmt::format("page {:#x} has a home but lies in no buffer", next));
  }
  if (range->buffer->placement == Placement::Private) {
    in.fail(fmt::format("page {:#x} has a home, but of buffer '{}' each GPU has a copy", next, range->buffer->name));
  }
  next += home.pages;
  return home;
}

// --- launches

void encode_launch(const Launch& launch, ByteVector& out) {
  put_text(out, launch.kernel);
  for (const std::uint64_t each :
       {std::uint64_t{launch.groups_x}, std::uint64_t{launch.groups_y}, std::uint64_t{launch.groups_z},
        std::uint64_t{launch.size_x}, std::uint64_t{launch.size_y}, launch.local_bytes,
        static_cast<std::uint64_t>(launch.split), static_cast<std::uint64_t>(launch.split_dim)}) {
    put_number(out, each);
  }
  if (launch.split != Split::Listed) return;
  put_number(out, launch.places->cu.empty() ? 0 : 1);
  for (const std::uint16_t gpu : launch.places->gpu) put_number(out, gpu);
  for (const std::uint16_t cu : launch.places->cu) put_number(out, cu);
}

std::vector<std::uint16_t> decode_places(ByteReader& in, std::uint64_t groups, std::uint64_t most,
                                         std::string_view what) {
  if (groups > in.left()) in.fail("it ends in the middle");
  std::vector<std::uint16_t> places(groups);
  for (std::uint16_t& place : places) place = static_cast<std::uint16_t>(in.number(0, most, what));
  return places;
}

Launch decode_launch(ByteReader& in, const TraceLimits& limits) {
  Launch launch;
  launch.kernel = in.text();
  for (std::uint32_t* groups : {&launch.groups_x, &launch.groups_y, &launch.groups_z}) {
    *groups = static_cast<std::uint32_t>(in.number(1, kMostU32, "the grid of a launch"));
  }
  for (std::uint32_t* size : {&launch.size_x, &launch.size_y}) {
    *size = static_cast<std::uint32_t>(in.number(1, limits.group_items, "the size of a workgroup"));
  }
  if (std::uint64_t{launch.size_x} * launch.size_y > limits.group_items) {
    in.fail(fmt::format("a workgroup has more than {} items", limits.group_items));
  }
  // Of two sides a product fits 64 bits; with the third it may not.
  if (std::uint64_t{launch.groups_x} * launch.groups_y > limits.wavefronts / launch.groups_z) {
    in.fail(fmt::format("a launch has more than {} workgroups", limits.wavefronts));
  }
  launch.local_bytes = in.number(0, kMostU64, "the local memory of a workgroup");
  launch.split = static_cast<Split>(in.number(0, static_cast<std::uint64_t>(Split::Listed), "the split of a launch"));
  launch.split_dim = static_cast<Dim>(in.number(0, static_cast<std::uint64_t>(Dim::Z), "the dimension of a split"));
  if (launch.split != Split::Listed) return launch;
  auto places = std::make_shared<GroupPlaces>();
  const bool has_units = in.number(0, 1, "whether compute units are listed") != 0;
  places->gpu = decode_places(in, launch.groups(), kMaxGpus - 1, "the GPU of a workgroup");
  if (has_units) places->cu = decode_places(in, launch.groups(), 0xffff, "the compute unit of a workgroup");
  launch.places = std::move(places);
  return launch;
}

// --- steps

void put_side(ByteVector& out, const std::optional<VirtAddr>& side) { put_number(out, side ? side->value + 1 : 0); }

struct StepEncoder {
  ByteVector& out;

  void begin(StepCode code) const { put_number(out, static_cast<std::uint64_t>(code)); }
  void operator()(const LaunchStep& step) const {
    begin(StepCode::Launch);
    put_number(out, step.launch);
  }
  void operator()(const Copy& copy) const {
    begin(StepCode::Copy);
    put_side(out, copy.from);
    put_side(out, copy.to);
    for (const std::uint64_t each : {copy.bytes, copy.rows, copy.pitch}) put_number(out, each);
    put_number(out, copy.wait ? 1 : 0);
  }
  void operator()(const HostPhase& phase) const {
    begin(StepCode::HostPhase);
    put_number(out, phase.cycles);
  }
  void operator()(const HostAccess& access) const {
    begin(StepCode::HostAccess);
    for (const std::uint64_t each : {access.first.value, access.bytes}) put_number(out, each);
    put_number(out, access.writes ? 1 : 0);
  }
  /// A management of memory adds them to a program's own steps, which alone are recorded.
  void operator()(const Transfer&) const { throw SimulationError("a transfer is no step of a program"); }
  void operator()(const Sync&) const { begin(StepCode::Sync); }
};

/// All rows of one side of a copy lie in one buffer.
void check_side(const ByteReader& in, const BufferMap& map, const Copy& copy, const std::optional<VirtAddr>& side) {
  if (!side) return;
  if (const BufferMap::Range* range = map.find(side->value); range != nullptr) {
    const std::uint64_t room = range->end - side->value;
    const bool fits = copy.bytes <= room && (copy.rows == 1 || (copy.rows - 1) <= (room - copy.bytes) / copy.pitch);
    if (fits) return;
  }
  in.fail(fmt::format("a copy from or to address {:#x} does not lie in a buffer", side->value));
}

Copy decode_copy(ByteReader& in, const BufferMap& map) {
  Copy copy;
  const auto side = [&]() -> std::optional<VirtAddr> {
    const std::uint64_t address = in.number(0, kTraceAddresses, "the address of a copy");
    return address == 0 ? std::nullopt : std::optional(VirtAddr{address - 1});
  };
  copy.from = side();
  copy.to = side();
  copy.bytes = in.number(1, kTraceAddresses, "the bytes of a copy");
  copy.rows = in.number(1, kTraceAddresses, "the rows of a copy");
  copy.pitch = in.number(0, kTraceAddresses, "the pitch of a copy");
  copy.wait = in.number(0, 1, "whether a copy is waited for") != 0;
  if (!copy.from && !copy.to) in.fail("a copy has no side in the address space");
  if (copy.rows > 1 && copy.pitch < copy.bytes) in.fail("the rows of a copy overlap");
  check_side(in, map, copy, copy.from);
  check_side(in, map, copy, copy.to);
  return copy;
}

HostAccess decode_host_access(ByteReader& in, const BufferMap& map) {
  HostAccess access;
  access.first = VirtAddr{in.number(0, kTraceAddresses - 1, "the address of an access of the host")};
  access.bytes = in.number(1, kTraceAddresses, "the bytes of an access of the host");
  access.writes = in.number(0, 1, "whether the host writes") != 0;
  const BufferMap::Range* range = map.find(access.first.value);
  if (range == nullptr || access.bytes > range->end - access.first.value) {
    in.fail(fmt::format("an access of the host to address {:#x} does not lie in a buffer", access.first.value));
  }
  return access;
}

/// Launches are carried out in their order, each once.
Step decode_step(ByteReader& in, const BufferMap& map, std::size_t launches, std::size_t& next_launch) {
  const std::uint64_t code = in.number();
  switch (static_cast<StepCode>(code)) {
    case StepCode::Launch:
      if (in.number() != next_launch || next_launch == launches) {
        in.fail("launches do not follow each other in the steps");
      }
      return LaunchStep{next_launch++};
    case StepCode::Copy: return decode_copy(in, map);
    case StepCode::HostPhase: return HostPhase{in.number(0, std::uint64_t{1} << 48, "the time of a host phase")};
    case StepCode::Sync: return Sync{};
    case StepCode::HostAccess: return decode_host_access(in, map);
  }
  in.fail(fmt::format("there is no step of kind {}", code));
}

}  // namespace

void encode_header(const TraceHeader& header, ByteVector& out) {
  put_text(out, header.source);
  for (const std::uint64_t each : {std::uint64_t{header.lanes}, std::uint64_t{header.line}, header.page, header.seed,
                                   std::uint64_t{header.times}, std::uint64_t{header.parameters.size()}}) {
    put_number(out, each);
  }
  for (const auto& [name, value] : header.parameters) {
    put_text(out, name);
    put_text(out, value);
  }
}

TraceHeader decode_header(ByteReader& in) {
  TraceHeader header;
  header.source = in.text();
  header.lanes = static_cast<std::uint32_t>(in.number(1, kMaxLanes, "the number of lanes"));
  if (header.lanes != 32 && header.lanes != 64) in.fail("a wavefront has 32 or 64 lanes");
  header.line = static_cast<std::uint32_t>(in.number(1, 4096, "the size of a line"));
  header.page = in.number(1, std::uint64_t{1} << 40, "the size of a page");
  if (!std::has_single_bit(header.line) || !std::has_single_bit(header.page)) {
    in.fail("the size of a line or of a page is no power of two");
  }
  header.seed = in.number();
  header.times = in.number(0, 1, "whether there are times") != 0;
  header.parameters.resize(in.count("parameters", 1 << 16));
  for (auto& [name, value] : header.parameters) {
    name = in.text();
    value = in.text();
  }
  if (!in.at_end()) in.fail("something follows the header");
  return header;
}

void encode_program(const TraceProgram& program, ByteVector& out) {
  put_number(out, program.gpus);
  put_number(out, program.collective ? 1 : 0);
  if (program.collective) {
    put_number(out, program.collective->bytes);
    put_real(out, program.collective->bus_factor);
  }
  put_number(out, program.buffers.size());
  for (const Buffer& buffer : program.buffers) {
    put_text(out, buffer.name);
    put_number(out, buffer.base.value);
    put_number(out, buffer.bytes);
    encode_placement(buffer, out);
  }
  put_number(out, program.homes.size());
  std::uint64_t next = 0;
  for (const PageHome& home : program.homes) {
    put_number(out, home.first.value - next);
    put_number(out, home.pages);
    put_number(out, home.device);
    next = home.first.value + home.pages;
  }
  put_number(out, program.launches.size());
  for (const Launch& launch : program.launches) encode_launch(launch, out);
  put_number(out, program.steps.size());
  for (const Step& step : program.steps) std::visit(StepEncoder{out}, step);
}

TraceProgram decode_program(ByteReader& in, const TraceHeader& header, const TraceLimits& limits) {
  TraceProgram program;
  program.gpus = in.number(0, kMaxGpus, "the number of GPUs");
  if (in.number(0, 1, "whether it is a collective operation") != 0) {
    program.collective.emplace();
    program.collective->bytes = in.number();
    program.collective->bus_factor = std::bit_cast<double>(in.number());
  }
  const std::size_t buffers = in.count("buffers", limits.buffers);
  for (std::size_t left = buffers; left > 0; --left) program.buffers.push_back(decode_buffer(in));
  const BufferMap map(program.buffers);
  check_buffers(in, map, limits);
  std::uint64_t next = 0;
  for (std::size_t left = in.count("homes", limits.homes); left > 0; --left) {
    program.homes.push_back(decode_home(in, map, next));
  }
  for (std::size_t left = in.count("launches", limits.steps); left > 0; --left) {
    program.launches.push_back(decode_launch(in, limits));
  }
  std::uint64_t waves = 0;
  for (const Launch& launch : program.launches) {
    const std::uint64_t each = launch.waves(header.lanes);
    if (launch.groups() > (limits.wavefronts - waves) / each) {
      in.fail(fmt::format("there are more than {} wavefronts", limits.wavefronts));
    }
    waves += launch.groups() * each;
  }
  std::size_t next_launch = 0;
  for (std::size_t left = in.count("steps", limits.steps); left > 0; --left) {
    program.steps.push_back(decode_step(in, map, program.launches.size(), next_launch));
  }
  if (next_launch != program.launches.size()) in.fail("a launch is missing among the steps");
  return program;
}

void encode_frames(const std::vector<TraceFrame>& frames, ByteVector& out) {
  put_number(out, frames.size());
  for (const TraceFrame& frame : frames) {
    for (const std::uint64_t each : {frame.stored, frame.plain, frame.waves}) put_number(out, each);
  }
}

std::vector<TraceFrame> decode_frames(ByteReader& in, std::uint64_t offset, const TraceLimits& limits) {
  std::vector<TraceFrame> frames(in.count("frames", limits.frames));
  std::uint64_t first = 0;
  for (TraceFrame& frame : frames) {
    frame.offset = offset;
    frame.stored = in.number(1, 2 * limits.frame_bytes, "the size of a frame");
    frame.plain = in.number(1, limits.frame_bytes, "the size of a frame that is decompressed");
    frame.first = first;
    // The length of each wavefront takes a byte at least.
    frame.waves = in.number(1, frame.plain, "the number of wavefronts of a frame");
    offset += frame.stored;
    first += frame.waves;
  }
  return frames;
}

std::vector<std::uint64_t> first_wavefronts(const std::vector<Launch>& launches, std::uint32_t lanes) {
  std::vector<std::uint64_t> first(1, 0);
  for (const Launch& launch : launches) first.push_back(first.back() + launch.groups() * launch.waves(lanes));
  return first;
}

}  // namespace nearfar
