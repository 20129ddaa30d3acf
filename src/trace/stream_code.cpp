#include "trace/stream_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "trace/format.h"

namespace nearfar {
namespace {

constexpr unsigned kMaskBytes = 8;
constexpr unsigned kMostUnit = 12;
/// A count below this stands in the first byte of its operation.
constexpr unsigned kSmallCounts = 15;

OpCode code_of(OpKind kind) {
  switch (kind) {
    case OpKind::VectorAlu: return OpCode::VectorAlu;
    case OpKind::ScalarAlu: return OpCode::ScalarAlu;
    case OpKind::Local: return OpCode::Local;
    case OpKind::Barrier: return OpCode::Barrier;
    case OpKind::Wait: return OpCode::Wait;
    case OpKind::Fence: return OpCode::Fence;
    case OpKind::ScalarLoad: return OpCode::ScalarLoad;
    case OpKind::Load: return OpCode::Load;
    case OpKind::Store: return OpCode::Store;
    case OpKind::Atomic: return OpCode::Atomic;
    case OpKind::Pause:
    case OpKind::End: break;
  }
  throw std::logic_error("this operation is never part of a trace");
}

OpKind kind_of_memory(OpCode code) {
  return code == OpCode::Load ? OpKind::Load : code == OpCode::Store ? OpKind::Store : OpKind::Atomic;
}

std::uint64_t read_mask(const std::uint8_t* at) {
  std::uint64_t mask = 0;
  std::memcpy(&mask, at, kMaskBytes);
  return mask;
}
static_assert(std::endian::native == std::endian::little, "masks are written as they lie in memory");

}  // namespace

// ---------------------------------------------------------------------------------------------------------- writing

void StreamEncoder::put_counted(OpCode code, std::uint64_t count) {
  const bool small = count < kSmallCounts;
  bytes_.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(code) | (small ? (count + 1) << 4 : 0)));
  if (!small) put_number(bytes_, count);
}

void StreamEncoder::add(Plain op) {
  const OpCode code = code_of(kind_of(op));
  if (kind_of(op) == OpKind::ScalarLoad) {
    begin_memory(code, LaneForm::Row, bytes_of(op), address_of(op));
  } else {
    put_counted(code, kind_of(op) == OpKind::Barrier ? 0 : count_of(op));
  }
}

void StreamEncoder::begin_memory(OpCode code, LaneForm form, unsigned bytes, std::uint64_t first) {
  bytes_.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(code) | static_cast<unsigned>(form) << 4));
  bytes_.push_back(static_cast<std::uint8_t>(bytes));
  put_number(bytes_, zigzag(first - last_));
  last_ = first;
}

void StreamEncoder::add(OpKind kind, unsigned bytes, const LaneAddresses& lanes) {
  if (lanes.in_rows()) {
    add_rows(code_of(kind), bytes, lanes.rows);
  } else {
    add_lanes(code_of(kind), bytes, lanes);
  }
}

void StreamEncoder::add_rows(OpCode code, unsigned bytes, const Rows& rows) {
  const bool plain = rows.rows == 1 && rows.width == 0 && rows.pitch == 0 && rows.step == bytes;
  if (plain && rows.lane == 0 && rows.lanes == lanes_) {
    begin_memory(code, LaneForm::Row, bytes, rows.first.value);
    return;
  }
  begin_memory(code, plain ? LaneForm::PartOfRow : LaneForm::Rows, bytes, rows.first.value);
  put_number(bytes_, rows.lanes);
  put_number(bytes_, rows.lane);
  if (plain) return;
  put_number(bytes_, rows.rows);
  put_number(bytes_, rows.width);
  put_number(bytes_, rows.step);
  put_number(bytes_, zigzag(rows.pitch));
}

void StreamEncoder::put_mask(std::uint64_t mask) {
  for (unsigned i = 0; i < kMaskBytes; ++i) bytes_.push_back(static_cast<std::uint8_t>(mask >> (8 * i)));
}

void StreamEncoder::add_lanes(OpCode code, unsigned bytes, const LaneAddresses& lanes) {
  if (lanes.active == 0) {
    begin_memory(code, LaneForm::Idle, bytes, last_);
    return;
  }
  const bool all = lanes.active == all_;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes.active));
  const std::uint64_t base = lanes.address[first];
  // The stride of the first two lanes that take part, if the distance is a whole number of it for each lane between.
  std::uint64_t stride = 0;
  if (const std::uint64_t others = lanes.active & (lanes.active - 1); others != 0) {
    const auto second = static_cast<unsigned>(std::countr_zero(others));
    const auto between = static_cast<std::int64_t>(lanes.address[second] - base);
    stride = static_cast<std::uint64_t>(between / static_cast<std::int64_t>(second - first));
  }
  bool strided = true;
  for (std::uint64_t left = lanes.active; left != 0 && strided; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    strided = lanes.address[lane] == base + (lane - first) * stride;
  }
  const LaneForm form =
      strided ? (all ? LaneForm::Strided : LaneForm::MaskedStrided) : (all ? LaneForm::Listed : LaneForm::MaskedListed);
  begin_memory(code, form, bytes, base);
  if (!all) put_mask(lanes.active);
  if (strided) {
    put_number(bytes_, zigzag(stride));
  } else {
    put_distances(lanes);
  }
}

/// The bytes that follow, the unit, and the distance of each lane from the one before.
void StreamEncoder::put_distances(const LaneAddresses& lanes) {
  std::uint64_t before = lanes.address[static_cast<unsigned>(std::countr_zero(lanes.active))];
  std::uint64_t seen = std::uint64_t{1} << kMostUnit;
  for (std::uint64_t left = lanes.active; left != 0; left &= left - 1) {
    const std::uint64_t at = lanes.address[static_cast<unsigned>(std::countr_zero(left))];
    seen |= at - before;
    before = at;
  }
  const auto unit = static_cast<unsigned>(std::countr_zero(seen));
  distances_.assign(1, static_cast<std::uint8_t>(unit));
  before = lanes.address[static_cast<unsigned>(std::countr_zero(lanes.active))];
  for (std::uint64_t left = lanes.active & (lanes.active - 1); left != 0; left &= left - 1) {
    const std::uint64_t at = lanes.address[static_cast<unsigned>(std::countr_zero(left))];
    put_number(distances_, zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(at - before) >> unit)));
    before = at;
  }
  put_number(bytes_, distances_.size());
  bytes_.insert(bytes_.end(), distances_.begin(), distances_.end());
}

void StreamEncoder::time(std::uint64_t cycles) {
  assert(cycles >= time_);
  put_counted(OpCode::Time, cycles - time_);
  time_ = cycles;
}

// --------------------------------------------------------------------------------------------------------- checking

namespace {

/// Goes through a stream that may be anything.
class StreamChecker {
 public:
  StreamChecker(std::span<const std::uint8_t> bytes, unsigned lanes, const BufferMap& buffers)
      : in_(bytes), lanes_(lanes), buffers_(buffers) {}

  void run() {
    while (!in_.at_end()) check_operation();
  }

 private:
  void check_operation() {
    const std::uint8_t head = in_.byte();
    const unsigned form = head >> 4;
    switch (static_cast<OpCode>(head & 15)) {
      case OpCode::VectorAlu:
      case OpCode::ScalarAlu:
      case OpCode::Local:
      case OpCode::Wait: check_count(form, 0xffff); return;
      case OpCode::Time: check_count(form, std::uint64_t{1} << 40); return;
      case OpCode::Barrier: check_count(form, 0); return;
      case OpCode::Fence: check_count(form, static_cast<std::uint64_t>(Scope::System)); return;
      case OpCode::ScalarLoad:
        if (form != 0) break;
        check_first();
        check_range(last_, last_ + bytes_);
        return;
      case OpCode::Load:
      case OpCode::Store:
      case OpCode::Atomic: check_lanes(form); return;
    }
    in_.fail(fmt::format("there is no operation {:#04x}", head));
  }

  void check_count(unsigned form, std::uint64_t most) {
    const std::uint64_t count = form != 0 ? form - 1 : in_.number();
    if (count > most) in_.fail(fmt::format("the count of an operation is {}, but at most {} is possible", count, most));
  }

  void check_first() {
    bytes_ = in_.byte();
    if (bytes_ == 0 || bytes_ > kMostLaneBytes) {
      in_.fail(fmt::format("a lane touches {} bytes, but from 1 to {} are possible", bytes_, kMostLaneBytes));
    }
    last_ += unzigzag(in_.number());
  }

  /// Bytes [begin, end) lie in buffers. Most lie where the access before was.
  void check_range(std::uint64_t begin, std::uint64_t end) {
    if (here_ != nullptr && begin < end && begin >= here_->begin && end <= here_->end) return;
    here_ = buffers_.find_mapped(begin);
    if (here_ == nullptr || end <= begin || end > here_->end) {
      in_.fail(fmt::format("address {:#x} lies in no buffer", here_ == nullptr ? begin : end - 1));
    }
  }

  void check_lanes(unsigned form) {
    check_first();
    const std::uint64_t all = ~std::uint64_t{0} >> (kMaxLanes - lanes_);
    switch (static_cast<LaneForm>(form)) {
      case LaneForm::Row: check_range(last_, last_ + std::uint64_t{lanes_} * bytes_); return;
      case LaneForm::PartOfRow: {
        const std::uint64_t lanes = in_.number(1, kMaxLanes, "the lanes of a row");
        in_.number(0, kMaxLanes - lanes, "the first lane of a row");
        check_range(last_, last_ + lanes * bytes_);
        return;
      }
      case LaneForm::Rows: check_rows(); return;
      case LaneForm::Strided: check_strided(all); return;
      case LaneForm::MaskedStrided: check_strided(mask(all)); return;
      case LaneForm::Listed: check_listed(all); return;
      case LaneForm::MaskedListed: check_listed(mask(all)); return;
      case LaneForm::Idle: return;
    }
    in_.fail(fmt::format("there is no form {} of lanes", form));
  }

  std::uint64_t mask(std::uint64_t all) {
    const std::uint64_t active = read_mask(in_.take(kMaskBytes).data());
    if (active == 0 || (active & ~all) != 0) {
      in_.fail(fmt::format("the mask {:#x} is none of {} lanes", active, lanes_));
    }
    return active;
  }

  void check_rows() {
    const std::uint64_t lanes = in_.number(1, kMaxLanes, "the lanes of a row");
    const std::uint64_t lane = in_.number(0, kMaxLanes - lanes, "the first lane of a row");
    const std::uint64_t rows = in_.number(1, kMaxLanes, "the number of rows");
    const std::uint64_t width = in_.number(0, kMaxLanes, "the lanes from row to row");
    const std::uint64_t step = in_.number(0, 0xffff'ffff, "the bytes from lane to lane");
    const std::uint64_t pitch = unzigzag(in_.number());
    if (rows > 1 && (width < lanes || lane + (rows - 1) * width + lanes > kMaxLanes)) {
      in_.fail(fmt::format("{} rows of {} lanes do not fit a wavefront", rows, lanes));
    }
    for (std::uint64_t row = 0; row < rows; ++row) check_row(last_ + row * pitch, lanes, step);
  }

  /// All from the first lane to the last lies in buffers, or at least each of them.
  void check_row(std::uint64_t first, std::uint64_t lanes, std::uint64_t step) {
    check_range(first, first + bytes_);
    if (first + (lanes - 1) * step + bytes_ <= here_->end) return;
    for (std::uint64_t lane = 1; lane < lanes; ++lane) check_range(first + lane * step, first + lane * step + bytes_);
  }

  void check_strided(std::uint64_t active) {
    const std::uint64_t stride = unzigzag(in_.number());
    const auto first = static_cast<unsigned>(std::countr_zero(active));
    for (; active != 0; active &= active - 1) {
      const std::uint64_t at = last_ + (static_cast<unsigned>(std::countr_zero(active)) - first) * stride;
      check_range(at, at + bytes_);
    }
  }

  void check_listed(std::uint64_t active) {
    const std::uint64_t size = in_.number();
    const std::size_t begin = in_.offset();
    const unsigned unit = in_.byte();
    if (unit > kMostUnit) in_.fail(fmt::format("the unit of distances is 2^{}", unit));
    std::uint64_t at = last_;
    check_range(at, at + bytes_);
    for (active &= active - 1; active != 0; active &= active - 1) {
      at += unzigzag(in_.number()) << unit;
      check_range(at, at + bytes_);
    }
    const std::uint64_t taken = in_.offset() - begin;
    if (taken != size) in_.fail(fmt::format("distances of lanes take {} bytes, not {}", taken, size));
  }

  ByteReader in_;
  unsigned lanes_;
  const BufferMap& buffers_;
  const BufferMap::Mapped* here_ = nullptr;
  std::uint64_t last_ = 0;
  unsigned bytes_ = 0;
};

}  // namespace

void check_stream(std::span<const std::uint8_t> bytes, unsigned lanes, const BufferMap& buffers) {
  StreamChecker(bytes, lanes, buffers).run();
}

// ---------------------------------------------------------------------------------------------------------- reading

Plain StreamDecoder::next_in_parts(RecordedLanes& lanes) {
  const std::uint8_t head = *at_++;
  const unsigned form = head >> 4;
  const auto code = static_cast<OpCode>(head & 15);
  switch (code) {
    case OpCode::ScalarLoad:
    case OpCode::Load:
    case OpCode::Store:
    case OpCode::Atomic: break;
    default: {
      const std::uint64_t count = form != 0 ? form - 1 : take_number(at_);
      switch (code) {
        case OpCode::VectorAlu: return plain(OpKind::VectorAlu, count);
        case OpCode::ScalarAlu: return plain(OpKind::ScalarAlu, count);
        case OpCode::Local: return plain(OpKind::Local, count);
        case OpCode::Wait: return plain(OpKind::Wait, count);
        case OpCode::Fence: return plain(OpKind::Fence, count);
        case OpCode::Barrier: return barrier();
        default: pause_ = count; return plain(OpKind::Pause, 0);
      }
    }
  }
  const unsigned bytes = *at_++;
  last_ += unzigzag(take_number(at_));
  if (code == OpCode::ScalarLoad) return plain(OpKind::ScalarLoad, last_, bytes);
  if (static_cast<LaneForm>(form) == LaneForm::Row) {
    lanes.first = last_;
    lanes.form = LaneForm::Row;
    lanes.lanes = lanes_;
    lanes.step = bytes;
    return plain(kind_of_memory(code), 1, bytes);
  }
  read_lanes(static_cast<LaneForm>(form), bytes, lanes);
  return plain(kind_of_memory(code), 1, bytes);
}

void StreamDecoder::read_lanes(LaneForm form, unsigned bytes, RecordedLanes& lanes) {
  const std::uint64_t all = ~std::uint64_t{0} >> (kMaxLanes - lanes_);
  lanes.first = last_;
  lanes.form = form;
  const auto small = [this] { return static_cast<std::uint8_t>(take_number(at_)); };
  const auto mask = [this] {
    const std::uint64_t active = read_mask(at_);
    at_ += kMaskBytes;
    return active;
  };
  switch (form) {
    case LaneForm::Row: break;  // has been read
    case LaneForm::PartOfRow:
      lanes.lanes = small();
      lanes.lane = small();
      lanes.step = bytes;
      break;
    case LaneForm::Rows:
      lanes.lanes = small();
      lanes.lane = small();
      lanes.rows = small();
      lanes.width = small();
      lanes.step = static_cast<std::uint32_t>(take_number(at_));
      lanes.distance = unzigzag(take_number(at_));
      break;
    case LaneForm::Strided:
    case LaneForm::MaskedStrided:
      lanes.mask = form == LaneForm::Strided ? all : mask();
      lanes.distance = unzigzag(take_number(at_));
      break;
    case LaneForm::Listed:
    case LaneForm::MaskedListed: {
      lanes.mask = form == LaneForm::Listed ? all : mask();
      const std::uint64_t size = take_number(at_);
      lanes.unit = *at_;
      lanes.distances = at_ + 1;
      at_ += size;
      break;
    }
    case LaneForm::Idle: break;
  }
}

void RecordedLanes::fill(LaneAddresses& out) const {
  out.active = 0;
  switch (form) {
    case LaneForm::Row: out.rows = {.first = VirtAddr{first}, .lanes = lanes, .step = step}; return;
    case LaneForm::PartOfRow: out.rows = {.first = VirtAddr{first}, .lanes = lanes, .step = step, .lane = lane}; return;
    case LaneForm::Rows:
      out.rows = {.first = VirtAddr{first},
                  .lanes = lanes,
                  .rows = rows,
                  .width = width,
                  .step = step,
                  .pitch = distance,
                  .lane = lane};
      return;
    default: break;
  }
  out.rows.lanes = 0;
  if (form == LaneForm::Idle) return;
  out.active = mask;
  const auto lowest = static_cast<unsigned>(std::countr_zero(mask));
  if (form == LaneForm::Strided || form == LaneForm::MaskedStrided) {
    std::uint64_t at = first;
    const auto stop = static_cast<unsigned>(std::bit_width(mask));
    for (unsigned i = lowest; i < stop; ++i, at += distance) out.address[i] = at;
    return;
  }
  std::uint64_t at = first;
  const std::uint8_t* next = distances;
  out.address[lowest] = at;
  for (std::uint64_t left = mask & (mask - 1); left != 0; left &= left - 1) {
    at += unzigzag(take_number(next)) << unit;
    out.address[static_cast<unsigned>(std::countr_zero(left))] = at;
  }
}

}  // namespace nearfar
