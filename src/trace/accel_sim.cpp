#include "trace/accel_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "config/error.h"
#include "trace/assembler.h"
#include "trace/line_reader.h"
#include "trace/stream_code.h"
#include "trace/touched_regions.h"

namespace nearfar {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kOldestTracer = 3, kNewestTracer = 5;
constexpr unsigned kRegisters = 256;
constexpr unsigned kZeroRegister = 255;
constexpr unsigned kSassLine = 128;
/// Size of the windows through which generic instructions reach shared and local memory.
constexpr std::uint64_t kWindow = std::uint64_t{1} << 24;

// --- words

template <class Number>
std::optional<Number> whole(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What an instruction is to a memory system.
enum class SassKind : std::uint8_t {
  Vector,
  Scalar,
  Shared,
  Load,
  Store,
  Atomic,
  GenericLoad,
  GenericStore,
  GenericAtomic,
  Barrier,
  Fence
};

SassKind sass_kind(std::string_view opcode) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is({"LDG"})) return SassKind::Load;
  if (is({"STG"})) return SassKind::Store;
  if (is({"ATOMG", "RED", "REDG"})) return SassKind::Atomic;
  if (is({"LD"})) return SassKind::GenericLoad;
  if (is({"ST"})) return SassKind::GenericStore;
  if (is({"ATOM"})) return SassKind::GenericAtomic;
  if (is({"LDS", "STS", "LDSM", "STSM", "ATOMS", "LDGSTS"})) {
    return name == "LDGSTS" ? SassKind::Load : SassKind::Shared;
  }
  if (is({"BAR"})) return SassKind::Barrier;
  if (is({"MEMBAR"})) return SassKind::Fence;
  if (name.starts_with("U") ||
      is({"BRA",      "BRX", "JMP",   "JMX",    "CALL",   "RET", "EXIT", "BSSY", "BSYNC", "BREAK",
          "WARPSYNC", "NOP", "YIELD", "DEPBAR", "ERRBAR", "LDC", "R2UR", "CCTL", "KILL",  "NANOSLEEP"})) {
    return SassKind::Scalar;
  }
  return SassKind::Vector;  // arithmetic, and LDL and STL, which carry offsets into memory of their own
}

Scope sass_scope(std::string_view opcode) {
  if (opcode.find(".CTA") != std::string_view::npos) return Scope::Workgroup;
  return opcode.find(".GPU") != std::string_view::npos ? Scope::Gpu : Scope::System;
}

/// One instruction of a warp.
struct SassInstruction {
  std::uint32_t mask = 0;
  std::string_view opcode;
  SassKind kind = SassKind::Vector;
  std::vector<unsigned> written, read;  ///< registers
  bool has_addresses = false;
  std::array<std::uint64_t, kWarp> address{};
};

/// The head of a kernel's trace.
struct SassKernel {
  std::string name = "kernel";
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::uint64_t shared_base = 0, local_base = 0;
  unsigned version = 0;
  bool line_info = false;

  bool is_shared(std::uint64_t address) const { return shared_base != 0 && address - shared_base < kWindow; }
  bool is_local(std::uint64_t address) const { return local_base != 0 && address - local_base < kWindow; }
};

/// Who is told of a kernel: its launch, then warp after warp.
struct SassVisitor {
  std::function<void(const SassKernel&)> kernel;
  std::function<void(std::uint64_t group, std::uint32_t warp)> warp;
  std::function<void(const SassKernel&, const SassInstruction&)> instruction;
  std::function<void()> warp_end;
};

// --- one kernel

class SassReader {
 public:
  SassReader(const std::string& path, const SassVisitor& visitor) : in_(path), visitor_(visitor) {}

  void run() {
    std::string_view line;
    while (in_.next(line)) {
      if (line.empty() || line.front() == '#') {
        if (line.starts_with("#END_TB")) end_warp();
        continue;
      }
      if (line.front() == '-') {
        take_head(line);
      } else if (line.starts_with("thread block")) {
        take_block(value_of(line));
      } else if (line.starts_with("warp")) {
        take_warp(value_of(line));
      } else if (line.starts_with("insts")) {
        left_ = need<std::uint64_t>(value_of(line), "the number of instructions");
      } else {
        take_instruction(line);
      }
    }
    end_warp();
    if (!begun_) in_.fail("this is no trace of Accel-Sim's: no thread block follows its head");
  }

 private:
  std::string_view value_of(std::string_view line) const {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) in_.fail("a `=` was expected");
    const std::size_t begin = line.find_first_not_of(" \t", equals + 1);
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
  }
  template <class Number>
  Number need(std::string_view text, std::string_view what, int base = 10) const {
    const auto value = whole<Number>(text, base);
    if (!value) in_.fail(fmt::format("{} was expected, not `{}`", what, text));
    return *value;
  }
  std::array<std::uint32_t, 3> triple(std::string_view text) const {
    if (text.starts_with("(") && text.ends_with(")")) text = text.substr(1, text.size() - 2);
    std::array<std::uint32_t, 3> values{};
    for (std::uint32_t& value : values) {
      const std::size_t comma = std::min(text.find(','), text.size());
      value = need<std::uint32_t>(text.substr(0, comma), "three numbers with commas between");
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return values;
  }

  void take_head(std::string_view line) {
    const std::string_view value = value_of(line);
    if (line.starts_with("-kernel name")) kernel_.name = value;
    if (line.starts_with("-grid dim")) kernel_.grid = triple(value);
    if (line.starts_with("-block dim")) kernel_.block = triple(value);
    if (line.starts_with("-shmem =")) kernel_.shared_bytes = need<std::uint64_t>(value, "bytes of shared memory");
    if (line.starts_with("-shmem base_addr")) kernel_.shared_base = need<std::uint64_t>(value, "an address", 16);
    if (line.starts_with("-local mem base_addr")) kernel_.local_base = need<std::uint64_t>(value, "an address", 16);
    if (line.starts_with("-enable lineinfo")) kernel_.line_info = need<unsigned>(value, "0 or 1") != 0;
    if (line.starts_with("-accelsim tracer version")) kernel_.version = need<unsigned>(value, "a version");
  }

  void take_block(std::string_view value) {
    end_warp();
    if (!begun_) {
      begin_kernel();
      begun_ = true;
    }
    const auto at = triple(value);
    for (unsigned d = 0; d < 3; ++d) {
      if (at[d] >= kernel_.grid[d]) in_.fail("the thread block lies outside the grid");
    }
    group_ = (std::uint64_t{at[2]} * kernel_.grid[1] + at[1]) * kernel_.grid[0] + at[0];
    in_block_ = true;
  }

  void begin_kernel() {
    if (kernel_.version < kOldestTracer || kernel_.version > kNewestTracer) {
      in_.fail(fmt::format("the tracer has version {}; versions {} to {} can be read", kernel_.version, kOldestTracer,
                           kNewestTracer));
    }
    std::uint64_t items = 1, groups = 1;
    for (unsigned d = 0; d < 3; ++d) {
      if (kernel_.grid[d] == 0 || kernel_.block[d] == 0) in_.fail("the grid or the block of the kernel is empty");
      items *= std::min<std::uint32_t>(kernel_.block[d], 1 << 20);
      groups *= kernel_.grid[d];
      if (groups > std::uint64_t{1} << 32) in_.fail("the grid is too large");
    }
    if (items > TraceLimits{}.group_items) in_.fail("the block is too large");
    warps_ = static_cast<std::uint32_t>((items + kWarp - 1) / kWarp);
    visitor_.kernel(kernel_);
  }

  void take_warp(std::string_view value) {
    end_warp();
    if (!in_block_) in_.fail("a warp belongs to a thread block, and none has begun");
    const auto warp = need<std::uint32_t>(value, "the number of a warp");
    if (warp >= warps_) in_.fail(fmt::format("the thread block has {} warps", warps_));
    in_warp_ = true;
    left_ = 0;
    visitor_.warp(group_, warp);
  }

  void end_warp() {
    if (!in_warp_) return;
    in_warp_ = false;
    if (left_ != 0) in_.fail(fmt::format("{} instructions of the warp are missing", left_));
    visitor_.warp_end();
  }

  // [line] PC mask written registers… opcode read registers… width [mode addresses…] [immediate]
  void take_instruction(std::string_view line) {
    if (!in_warp_ || left_ == 0) in_.fail("an instruction that belongs to no warp");
    --left_;
    split_words(line, words_);
    next_ = kernel_.line_info ? 1 : 0;
    word("the program counter");
    SassInstruction& what = instruction_;
    what.mask = need<std::uint32_t>(word("the mask"), "a mask of lanes", 16);
    take_registers(what.written);
    what.opcode = word("the opcode");
    what.kind = sass_kind(what.opcode);
    take_registers(what.read);
    const auto width = need<unsigned>(word("the width"), "the width of the access");
    what.has_addresses = width != 0 && what.mask != 0 && next_ < words_.size();
    if (what.has_addresses) take_addresses();
    visitor_.instruction(kernel_, what);
  }

  std::string_view word(std::string_view what) {
    if (next_ >= words_.size()) in_.fail(fmt::format("the line ends before {}", what));
    return words_[next_++];
  }
  void take_registers(std::vector<unsigned>& registers) {
    registers.clear();
    for (auto left = need<unsigned>(word("registers"), "the number of registers"); left > 0; --left) {
      const std::string_view name = word("a register");
      const auto number = name.starts_with("R") ? whole<unsigned>(name.substr(1)) : std::nullopt;
      if (number && *number < kZeroRegister) registers.push_back(*number);
    }
  }

  /// All of them; a base and a stride; or a base and a distance for each lane but the first.
  void take_addresses() {
    const auto mode = need<unsigned>(word("the form of addresses"), "the form of addresses");
    if (mode > 2) in_.fail(fmt::format("there is no form {} of addresses", mode));
    std::uint64_t at = 0, stride = 0;
    bool first = true;
    for (std::uint32_t left = instruction_.mask; left != 0; left &= left - 1) {
      if (mode == 0 || first) {
        at = need<std::uint64_t>(word("an address"), "an address", 16);
        if (mode == 1) stride = static_cast<std::uint64_t>(need<std::int64_t>(word("a stride"), "a stride"));
      } else {
        at += mode == 1 ? stride : static_cast<std::uint64_t>(need<std::int64_t>(word("a distance"), "a distance"));
      }
      first = false;
      instruction_.address[static_cast<unsigned>(std::countr_zero(left))] = at;
    }
  }

 public:
  [[noreturn]] void fail(const std::string& what) const { in_.fail(what); }

 private:
  LineReader in_;
  const SassVisitor& visitor_;
  SassKernel kernel_;
  SassInstruction instruction_;
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  bool begun_ = false, in_block_ = false, in_warp_ = false;
  std::uint64_t group_ = 0;
  std::uint32_t warps_ = 0;
  std::uint64_t left_ = 0;
};

/// What an instruction does, now that its addresses are known: generic ones may go to shared or local memory.
SassKind effective_kind(const SassKernel& kernel, const SassInstruction& what) {
  const bool global = what.kind == SassKind::Load || what.kind == SassKind::Store || what.kind == SassKind::Atomic;
  const bool generic =
      what.kind == SassKind::GenericLoad || what.kind == SassKind::GenericStore || what.kind == SassKind::GenericAtomic;
  if (!global && !generic) return what.kind;
  if (!what.has_addresses) return SassKind::Vector;  // no lane takes part
  if (generic) {
    const std::uint64_t address = what.address[static_cast<unsigned>(std::countr_zero(what.mask))];
    if (kernel.is_shared(address)) return SassKind::Shared;
    if (kernel.is_local(address)) return SassKind::Vector;
  }
  if (what.kind == SassKind::GenericLoad) return SassKind::Load;
  if (what.kind == SassKind::GenericStore) return SassKind::Store;
  return what.kind == SassKind::GenericAtomic ? SassKind::Atomic : what.kind;
}

bool is_memory(SassKind kind) { return kind == SassKind::Load || kind == SassKind::Store || kind == SassKind::Atomic; }

/// Writes the instructions of a warp as operations. The tracer says no waits: an instruction that reads or writes a
/// register which a load has still to fill waits for that load.
class WarpWriter {
 public:
  explicit WarpWriter(const TouchedRegions& regions) : regions_(regions), encoder_(kWarp) {}

  void begin() {
    encoder_.begin();
    arithmetic_ = scalar_ = shared_ = 0;
    issued_ = retired_ = 0;
    pending_.fill(0);
  }
  ByteVector take() {
    flush();
    return ByteVector(encoder_.bytes());
  }

  void add(const SassKernel& kernel, const SassInstruction& what) {
    const SassKind kind = effective_kind(kernel, what);
    wait_for(what);
    switch (kind) {
      case SassKind::Vector: ++arithmetic_; return;
      case SassKind::Scalar: ++scalar_; return;
      case SassKind::Shared: ++shared_; return;
      case SassKind::Barrier:
        flush();
        encoder_.add(barrier());
        return;
      case SassKind::Fence:
        flush();
        encoder_.add(fence(sass_scope(what.opcode)));
        return;
      default: add_memory(kind, what); return;
    }
  }

 private:
  void add_memory(SassKind kind, const SassInstruction& what) {
    flush();
    const unsigned bytes = sass_access_bytes(what.opcode);
    lanes_.rows = {};
    lanes_.active = what.mask;
    for (std::uint32_t left = what.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      lanes_.address[lane] = regions_.address(what.address[lane]);
    }
    encoder_.add(kind == SassKind::Load    ? OpKind::Load
                 : kind == SassKind::Store ? OpKind::Store
                                           : OpKind::Atomic,
                 bytes, lanes_);
    if (kind == SassKind::Store) return;
    ++issued_;
    for (const unsigned first : what.written) {
      for (unsigned r = first; r < std::min(first + (bytes + 3) / 4, kRegisters); ++r) pending_[r] = issued_;
    }
  }

  void wait_for(const SassInstruction& what) {
    std::uint64_t needed = 0;
    for (const auto* registers : {&what.written, &what.read}) {
      for (const unsigned r : *registers) needed = std::max(needed, pending_[r]);
    }
    if (needed <= retired_) return;
    flush();
    encoder_.add(wait(static_cast<unsigned>(std::min<std::uint64_t>(issued_ - needed, 0xffff))));
    retired_ = needed;
  }

  void flush() {
    const auto put = [this](std::uint64_t& count, Plain (*make)(unsigned)) {
      for (; count != 0;) {
        const auto piece = static_cast<unsigned>(std::min<std::uint64_t>(count, 0xffff));
        encoder_.add(make(piece));
        count -= piece;
      }
    };
    put(arithmetic_, valu);
    put(scalar_, salu);
    put(shared_, local);
  }

  const TouchedRegions& regions_;
  StreamEncoder encoder_;
  LaneAddresses lanes_;
  std::uint64_t arithmetic_ = 0, scalar_ = 0, shared_ = 0;
  std::uint64_t issued_ = 0, retired_ = 0;           ///< loads and atomics
  std::array<std::uint64_t, kRegisters> pending_{};  ///< by register: the load that fills it, from 1 on
};

// --- the list of kernels

struct ListedCopy {
  bool to_gpu = true;
  std::uint64_t address = 0, bytes = 0;
};
using ListEntry = std::variant<ListedCopy, std::string>;  ///< a copy, or the file of a kernel

std::string kernel_path(const std::filesystem::path& list, std::string_view name, const LineReader& in) {
  const std::filesystem::path beside = list.parent_path() / name;
  if (std::filesystem::exists(beside)) return beside.string();
  const std::string compressed = beside.string() + ".xz";
  if (std::filesystem::exists(compressed)) return compressed;
  in.fail(fmt::format("there is no file `{}`, nor `{}`", beside.string(), compressed));
}

ListedCopy listed_copy(std::string_view line, const LineReader& in) {
  const std::size_t comma = line.find(','), second = line.find(',', comma + 1);
  if (comma == std::string_view::npos || second == std::string_view::npos) {
    in.fail("a copy is MemcpyHtoD,address,bytes");
  }
  const auto address = whole<std::uint64_t>(line.substr(comma + 1, second - comma - 1), 16);
  const auto bytes = whole<std::uint64_t>(line.substr(second + 1));
  if (!address || !bytes || *address > kTraceAddresses || *bytes > kTraceAddresses) {
    in.fail("a copy is MemcpyHtoD,address,bytes");
  }
  return {line.starts_with("MemcpyHtoD"), *address, *bytes};
}

std::vector<ListEntry> read_list(const std::string& path) {
  LineReader in(path);
  std::vector<ListEntry> entries;
  std::string_view line;
  while (in.next(line)) {
    if (line.starts_with("-") || line.starts_with("#BEGIN_TB")) return {path};  // the trace of a kernel
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("MemcpyHtoD") || line.starts_with("MemcpyDtoH")) {
      const ListedCopy copy = listed_copy(line, in);
      if (copy.bytes != 0) entries.emplace_back(copy);
    } else if (line.find(".trace") != std::string_view::npos) {
      entries.emplace_back(kernel_path(path, line, in));
    } else {
      in.fail(fmt::format("`{}` is neither a copy nor the trace of a kernel", line.substr(0, 60)));
    }
  }
  if (entries.empty()) in.fail("the list names nothing");
  return entries;
}

/// Copies are made of whole lines.
Copy copy_step(const ListedCopy& copy, const TouchedRegions& regions) {
  const std::uint64_t begin = regions.address(copy.address) & ~std::uint64_t{kSassLine - 1};
  const std::uint64_t end =
      (regions.address(copy.address) + copy.bytes + kSassLine - 1) & ~std::uint64_t{kSassLine - 1};
  Copy step;
  (copy.to_gpu ? step.to : step.from) = VirtAddr{begin};
  step.bytes = end - begin;
  return step;
}

/// The slowest dimension that has several workgroups is what the GPUs share.
Dim split_of(const std::array<std::uint32_t, 3>& grid) { return grid[2] > 1 ? Dim::Z : grid[1] > 1 ? Dim::Y : Dim::X; }

TouchedRegions find_regions(const std::vector<ListEntry>& entries, const AccelSimOptions& options) {
  TouchedRegions regions;
  const SassReader* reader = nullptr;
  SassVisitor visitor;
  visitor.kernel = [](const SassKernel&) {};
  visitor.warp = [](std::uint64_t, std::uint32_t) {};
  visitor.warp_end = [] {};
  visitor.instruction = [&](const SassKernel& kernel, const SassInstruction& what) {
    if (!is_memory(effective_kind(kernel, what))) return;
    const unsigned bytes = sass_access_bytes(what.opcode);
    for (std::uint32_t left = what.mask; left != 0; left &= left - 1) {
      const std::uint64_t at = what.address[static_cast<unsigned>(std::countr_zero(left))];
      if (at >= std::uint64_t{1} << 56) reader->fail(fmt::format("{:#x} is no address", at));
      regions.touch(at, bytes);
    }
  };
  for (const ListEntry& entry : entries) {
    if (const auto* copy = std::get_if<ListedCopy>(&entry)) {
      if (options.copies) regions.touch(copy->address, copy->bytes);
    } else {
      SassReader kernel(std::get<std::string>(entry), visitor);
      reader = &kernel;
      kernel.run();
    }
  }
  regions.settle();
  return regions;
}

}  // namespace

unsigned sass_access_bytes(std::string_view opcode) {
  constexpr unsigned kUsual = 4;
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', dot + 1);
    std::string_view part = opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (!part.empty() && std::string_view("USFB").find(part.front()) != std::string_view::npos) part.remove_prefix(1);
    const auto bits = whole<unsigned>(part);
    if (bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 || *bits == 128)) return *bits / 8;
    dot = next;
  }
  return kUsual;
}

void import_accel_sim(const std::string& path, const AccelSimOptions& options, TraceSink& out) {
  const std::vector<ListEntry> entries = read_list(path);
  const TouchedRegions regions = find_regions(entries, options);
  TraceHeader header;
  header.source = "accel-sim";
  header.lanes = kWarp;
  header.line = kSassLine;
  header.parameters.emplace_back("file", std::filesystem::path(path).filename().string());
  if (regions.moved()) header.parameters.emplace_back("addresses", "moved together");
  TraceAssembler assembler(out, header, regions.buffers());
  WarpWriter writer(regions);
  std::uint64_t group = 0;
  std::uint32_t warp = 0;
  SassVisitor visitor;
  visitor.kernel = [&](const SassKernel& kernel) {
    Launch launch;
    launch.kernel = kernel.name;
    launch.groups_x = kernel.grid[0];
    launch.groups_y = kernel.grid[1];
    launch.groups_z = kernel.grid[2];
    launch.size_x = kernel.block[0];
    launch.size_y = kernel.block[1] * kernel.block[2];
    launch.local_bytes = kernel.shared_bytes;
    launch.split_dim = split_of(kernel.grid);
    assembler.begin_launch(std::move(launch));
  };
  visitor.warp = [&](std::uint64_t of, std::uint32_t index) {
    group = of;
    warp = index;
    writer.begin();
  };
  visitor.instruction = [&](const SassKernel& kernel, const SassInstruction& what) { writer.add(kernel, what); };
  visitor.warp_end = [&] { assembler.add_stream(group, warp, writer.take()); };
  for (const ListEntry& entry : entries) {
    if (const auto* copy = std::get_if<ListedCopy>(&entry)) {
      if (options.copies) assembler.add_step(copy_step(*copy, regions));
    } else {
      SassReader(std::get<std::string>(entry), visitor).run();
    }
  }
  assembler.finish();
}

}  // namespace nearfar
