#include "trace/opencl/wave_writer.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace nearfar::opencl {
namespace {

/// What a lane moves at most with one instruction.
constexpr std::uint64_t kPieceBytes = 16;
constexpr std::uint64_t kMostScalarBytes = 64;

OpKind kind_of_access(LaneTag tag) {
  return tag == LaneTag::Load ? OpKind::Load : tag == LaneTag::Store ? OpKind::Store : OpKind::Atomic;
}

}  // namespace

void find_rows(unsigned bytes, LaneAddresses& lanes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes.active));
  const auto count = static_cast<unsigned>(std::popcount(lanes.active));
  if (count == 0 || lanes.active >> first != ~std::uint64_t{0} >> (kMaxLanes - count)) return;
  const std::uint64_t* address = &lanes.address[first];
  const std::uint64_t step = count == 1 ? bytes : address[1] - address[0];
  if (step > std::numeric_limits<std::uint32_t>::max()) return;
  unsigned width = std::min(count, 2U);
  while (width < count && address[width] - address[width - 1] == step) ++width;
  if (count % width != 0) return;
  const std::uint64_t pitch = width == count ? 0 : address[width] - address[0];
  for (unsigned i = width; i < count; ++i) {
    if (address[i] != address[0] + i / width * pitch + i % width * step) return;
  }
  const unsigned rows = count / width;
  lanes.rows = {.first = VirtAddr{address[0]},
                .lanes = width,
                .rows = rows,
                .width = rows == 1 ? 0 : width,
                .step = static_cast<std::uint32_t>(step),
                .pitch = pitch,
                .lane = first};
  lanes.active = 0;
}

WaveWriter::WaveWriter(const KernelCode& code, const AddressMap& addresses, unsigned lanes)
    : code_(code),
      addresses_(addresses),
      lanes_(lanes, LaneProgram(code)),
      bytes_(lanes),
      encoder_(kMaxLanes),
      pieces_(lanes) {
  encoder_.begin();
}

void WaveWriter::add(unsigned lane, std::span<const std::uint8_t> bytes) {
  bytes_[lane].insert(bytes_[lane].end(), bytes.begin(), bytes.end());
}

bool WaveWriter::run_phase() {
  results_.resize(code_.size());
  std::vector<unsigned> running, active;
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].begin(bytes_[lane]);
  for (;;) {
    running.clear();
    for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
      if (!lanes_[lane].at_end()) running.push_back(lane);
    }
    if (running.empty()) break;
    unsigned lowest = running.front();
    for (const unsigned lane : running) {
      if (lanes_[lane].stands_before(lanes_[lowest])) lowest = lane;
    }
    active.clear();
    for (const unsigned lane : running) {
      if (lanes_[lane].stands_with(lanes_[lowest])) active.push_back(lane);
    }
    execute(active);
    for (const unsigned lane : active) lanes_[lane].advance();
  }
  for (ByteVector& bytes : bytes_) bytes.clear();
  return std::ranges::any_of(lanes_, &LaneProgram::at_barrier);
}

void WaveWriter::execute(const std::vector<unsigned>& active) {
  const std::uint32_t instruction = lanes_[active.front()].instruction();
  const CodeInstruction& code = code_[instruction];
  if (code.kind == CodeKind::Free) {  // another name for what it uses
    Result& result = results_[instruction];
    result = {};
    for (const std::uint32_t use : code.uses) {
      result.vector = std::max(result.vector, results_[use].vector);
      result.scalar = std::max(result.scalar, results_[use].scalar);
    }
    return;
  }
  wait_for(code);
  switch (code.kind) {
    case CodeKind::Vector:
      vector_ += code.count;
      // Some built-in functions store a second result.
      if (std::ranges::any_of(active, [&](unsigned lane) { return !lanes_[lane].accesses().empty(); })) {
        execute_memory(instruction, active);
      }
      break;
    case CodeKind::Scalar: scalar_ += code.count; break;
    case CodeKind::Call:
    case CodeKind::Return: ++scalar_; break;
    case CodeKind::Fence:
      flush();
      encoder_.add(fence((code.count & kGlobalFence) != 0 ? Scope::Gpu : Scope::Workgroup));
      wait_for_all();
      break;
    case CodeKind::Uniform:
      if (execute_uniform(instruction, active)) break;
      [[fallthrough]];
    case CodeKind::Memory: execute_memory(instruction, active); break;
    case CodeKind::Free:
    case CodeKind::Barrier: break;
  }
}

/// Of an instruction that uses what has not come back yet. Waiting for a scalar load is waiting for all.
void WaveWriter::wait_for(const CodeInstruction& code) {
  std::uint64_t needed = 0;
  bool needs_scalar = false;
  for (const std::uint32_t use : code.uses) {
    needed = std::max(needed, results_[use].vector);
    needs_scalar = needs_scalar || results_[use].scalar > scalar_loads_awaited_;
  }
  if (needs_scalar) {
    flush();
    encoder_.add(wait(0));
    loads_awaited_ = loads_;
    scalar_loads_awaited_ = scalar_loads_;
  } else if (needed > loads_awaited_) {
    flush();
    encoder_.add(wait(static_cast<unsigned>(std::min<std::uint64_t>(loads_ - needed, 0xffff))));
    loads_awaited_ = needed;
    if (loads_awaited_ == loads_) scalar_loads_awaited_ = scalar_loads_;  // none outstanding: scalars have come too
  }
}

void WaveWriter::wait_for_all() {
  loads_awaited_ = loads_;
  scalar_loads_awaited_ = scalar_loads_;
}

void WaveWriter::barrier(bool global) {
  flush();
  if (global && (loads_awaited_ != loads_ || scalar_loads_awaited_ != scalar_loads_)) {
    encoder_.add(wait(0));
    wait_for_all();
  }
  encoder_.add(nearfar::barrier());
}

bool WaveWriter::execute_uniform(std::uint32_t instruction, const std::vector<unsigned>& active) {
  const std::vector<LaneAccess>& first = lanes_[active.front()].accesses();
  if (first.size() != 1 || first[0].tag != LaneTag::Load || first[0].bytes > kMostScalarBytes) return false;
  for (const unsigned lane : active) {
    const std::vector<LaneAccess>& here = lanes_[lane].accesses();
    if (here.size() != 1 || here[0].address != first[0].address || here[0].tag != LaneTag::Load) return false;
  }
  const std::uint64_t address = addresses_(first[0]);
  if (address == 0) return false;
  flush();
  encoder_.add(scalar_load(static_cast<unsigned>(first[0].bytes), VirtAddr{address}));
  results_[instruction] = {.scalar = ++scalar_loads_};
  return true;
}

void WaveWriter::gather(const LaneProgram& lane, std::vector<Piece>& pieces) const {
  pieces.clear();
  for (const LaneAccess& access : lane.accesses()) {
    const std::uint64_t address = access.tag == LaneTag::Local ? 0 : addresses_(access);
    if (access.tag != LaneTag::Local && address == 0) continue;
    for (std::uint64_t done = 0; done < access.bytes; done += kPieceBytes) {
      const auto bytes = static_cast<std::uint8_t>(std::min(kPieceBytes, access.bytes - done));
      pieces.push_back({access.tag, bytes, address + done});
    }
  }
}

/// The accesses of all lanes, the first of each, then the second: those of one kind and size are an instruction.
void WaveWriter::execute_memory(std::uint32_t instruction, const std::vector<unsigned>& active) {
  std::size_t most = 0;
  bool is_private = true;
  for (const unsigned lane : active) {
    gather(lanes_[lane], pieces_[lane]);
    most = std::max(most, pieces_[lane].size());
    is_private = is_private && lanes_[lane].accesses().empty();
  }
  if (is_private) ++vector_;
  results_[instruction] = {};
  std::vector<unsigned> left;
  for (std::size_t i = 0; i < most; ++i) {
    left.clear();
    for (const unsigned lane : active) {
      if (i < pieces_[lane].size()) left.push_back(lane);
    }
    while (!left.empty()) {
      const Piece& like = pieces_[left.front()][i];
      touched_.rows = {};
      touched_.active = 0;
      std::erase_if(left, [&](unsigned lane) {
        const Piece& piece = pieces_[lane][i];
        if (piece.tag != like.tag || (like.tag != LaneTag::Local && piece.bytes != like.bytes)) return false;
        touched_.active |= std::uint64_t{1} << lane;
        touched_.address[lane] = piece.address;
        return true;
      });
      if (like.tag == LaneTag::Local) {
        ++local_;
      } else {
        put_memory(kind_of_access(like.tag), like.bytes);
        if (like.tag != LaneTag::Store) results_[instruction].vector = loads_;
      }
    }
  }
}

void WaveWriter::put_memory(OpKind kind, unsigned bytes) {
  flush();
  find_rows(bytes, touched_);
  encoder_.add(kind, bytes, touched_);
  if (kind != OpKind::Store) ++loads_;
}

void WaveWriter::copy(OpKind kind, unsigned bytes, const LaneAddresses& lanes) {
  touched_ = lanes;
  put_memory(kind, bytes);
}

ByteVector WaveWriter::take() {
  flush();
  return encoder_.take();
}

void WaveWriter::flush() {
  const auto put = [this](std::uint64_t& count, Plain (*make)(unsigned)) {
    while (count != 0) {
      const auto piece = static_cast<unsigned>(std::min<std::uint64_t>(count, 0xffff));
      encoder_.add(make(piece));
      count -= piece;
    }
  };
  put(vector_, valu);
  put(scalar_, salu);
  put(local_, local);
}

}  // namespace nearfar::opencl
