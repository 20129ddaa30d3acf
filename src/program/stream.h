// A wavefront's program as a stream of operations.
//
// A kernel is a coroutine that yields what the wavefront does: vector and scalar arithmetic, loads, stores, waits,
// barriers. It is pure: a function of (workload, parameters, seed, launch, workgroup, wavefront) and of nothing that
// happens in simulated time. Lane addresses are made only when the load/store unit takes the instruction: a yielded
// memory operation points to the LaneOp that computes them, which lives in the suspended coroutine's frame.
//
// Frames are kept small by two habits: operations without lanes are scalars (Plain), and a kernel names each of its
// memory operations once, as a local that its loops yield. g++ 12 keeps every class temporary of every co_yield in
// the frame, each in a place of its own.
#pragma once

#include <array>
#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "program/scope.h"
#include "sim/types.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace nearfar {

inline constexpr unsigned kMaxLanes = 64;

enum class OpKind : std::uint8_t {
  VectorAlu,   ///< `count` vector-ALU instructions
  ScalarAlu,   ///< `count` scalar, branch and message instructions
  Load,        ///< vector load of `bytes` per lane
  Store,       ///< vector store of `bytes` per lane
  Atomic,      ///< vector atomic of `bytes` per lane, performed at the home of each line
  ScalarLoad,  ///< one uniform load of `bytes` at `address`
  Local,       ///< `count` local-memory instructions
  Barrier,     ///< all wavefronts of the workgroup meet
  Wait,        ///< until at most `count` vector loads are outstanding (0: scalar and local results too)
  Fence,       ///< release and acquire, of the scope that `count` is
  Pause,       ///< nothing, for `count` cycles: the time that a trace was recorded with
  End,         ///< the wavefront has ended (made by the stream itself)
};

/// Lanes in rows, as a tile of a matrix has them: lane `lane + r * width + i`, for r < rows and i < lanes, is at
/// `first + r * pitch + i * step`. The other lanes take no part.
struct Rows {
  VirtAddr first;           ///< of lane `lane`
  std::uint32_t lanes = 0;  ///< of each row that take part
  std::uint32_t rows = 1;
  std::uint32_t width = 0;  ///< lanes from a row to the next
  std::uint32_t step = 0;   ///< bytes from a lane to the next; 0 where all lanes of a row are at one address
  std::uint64_t pitch = 0;  ///< bytes from a row to the next, modulo 2^64
  std::uint32_t lane = 0;

  /// Without what is beyond a wavefront's lanes.
  constexpr Rows within(unsigned wave_lanes) const {
    Rows fit = *this;
    const unsigned room = wave_lanes - lane;
    if (rows > 1 && rows * width > room) fit.rows = (room + width - 1) / width;
    if (fit.rows == 1 && lanes > room) fit.lanes = room;
    return fit;
  }
};

/// What the lanes of one vector memory instruction touch: `address[i]` counts when bit i of `active` is set; or, if
/// these have any, what `rows` says.
struct LaneAddresses {
  std::uint64_t active = 0;
  Rows rows{};
  std::array<std::uint64_t, kMaxLanes> address;

  bool in_rows() const { return rows.lanes != 0; }

  /// Spells it out for whoever wants to see single lanes: what `rows` says, and ~0 for the lanes that take no part.
  void expand() {
    if (in_rows()) {
      active = 0;
      for (unsigned r = 0; r < rows.rows; ++r) {
        for (unsigned i = 0; i < rows.lanes; ++i) {
          const unsigned lane = rows.lane + r * rows.width + i;
          address[lane] = rows.first.value + r * rows.pitch + std::uint64_t{i} * rows.step;
          active |= std::uint64_t{1} << lane;
        }
      }
      rows = {};
    }
    for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
      if ((active >> lane & 1) == 0) address[lane] = ~std::uint64_t{0};
    }
  }
};

struct Op {
  using Lanes = void (*)(const void* operation, unsigned lanes, LaneAddresses& out);

  OpKind kind = OpKind::End;
  std::uint8_t bytes = 0;
  std::uint16_t count = 0;
  Lanes lanes = nullptr;  ///< Load, Store, Atomic
  union {
    const void* operation = nullptr;  ///< Load, Store, Atomic: what `lanes` is called with
    std::uint64_t address;            ///< ScalarLoad
  };
};

/// A lane that takes no part in a memory instruction answers this address.
inline constexpr VirtAddr kIdle{~std::uint64_t{0}};

/// Which lanes have the highest bit of their address set, as `kIdle` has.
inline std::uint64_t idle_lanes(const std::array<std::uint64_t, kMaxLanes>& address) {
  std::uint64_t idle = 0;
#if defined(__AVX__)
  for (unsigned lane = 0; lane < kMaxLanes; lane += 4) {
    const __m256d four = _mm256_loadu_pd(reinterpret_cast<const double*>(&address[lane]));
    idle |= static_cast<std::uint64_t>(_mm256_movemask_pd(four)) << lane;
  }
#else
  for (unsigned lane = kMaxLanes; lane-- > 0;) idle = idle << 1 | address[lane] >> 63;
#endif
  return idle;
}

/// Which part of the grid a wavefront is. Lane l of wavefront w has flattened local id 64w + l, x fastest.
struct Wave {
  std::uint32_t group_x = 0, group_y = 0, group_z = 0;  ///< workgroup coordinates
  std::uint32_t index = 0;                              ///< wavefront in its workgroup
  std::uint32_t size_x = 1, size_y = 1;                 ///< workgroup size in items
  std::uint32_t lanes = kMaxLanes;                      ///< lanes of a wavefront in this machine (64, or 32)

  constexpr std::uint32_t local(unsigned lane) const { return index * lanes + lane; }
  constexpr std::uint32_t local_x(unsigned lane) const { return local(lane) % size_x; }
  constexpr std::uint32_t local_y(unsigned lane) const { return local(lane) / size_x % size_y; }
  /// Global id in a one-dimensional launch.
  constexpr std::uint64_t item(unsigned lane) const { return std::uint64_t{group_x} * size_x + local(lane); }
  constexpr std::uint64_t global_x(unsigned lane) const { return std::uint64_t{group_x} * size_x + local_x(lane); }
  constexpr std::uint64_t global_y(unsigned lane) const { return std::uint64_t{group_y} * size_y + local_y(lane); }
};

/// `lanes` lanes of a wavefront, from `lane` on, side by side from an address on.
struct Row {
  VirtAddr first;
  std::uint32_t lanes = kMaxLanes;
  std::uint32_t lane = 0;
};

/// A callable for those lanes only whose bit is set in a mask of the kernel's.
template <class Address>
struct Only {
  const std::uint64_t& lanes;
  Address address;
};
template <class Address>
Only(const std::uint64_t&, Address) -> Only<Address>;

/// A callable that is asked for all of kMaxLanes lanes, however many a wavefront has; none answers `kIdle`.
template <class Address>
struct Every {
  Address address;
};
template <class Address>
Every(Address) -> Every<Address>;

template <class T>
inline constexpr bool kIsOnly = false;
template <class Address>
inline constexpr bool kIsOnly<Only<Address>> = true;
template <class T>
inline constexpr bool kIsEvery = false;
template <class Address>
inline constexpr bool kIsEvery<Every<Address>> = true;

/// A memory operation with the callable that says what the lanes touch: `VirtAddr(unsigned lane)` for each of them, for
/// `Only` some or for `Every` one, or `Row()` or `Rows()` for all at once.
template <class Address>
struct LaneOp {
  OpKind kind;
  std::uint8_t bytes;
  Address address;

  constexpr Rows rows() const {
    if constexpr (std::is_same_v<std::invoke_result_t<const Address&>, Row>) {
      const Row row = address();
      return {.first = row.first, .lanes = row.lanes, .step = bytes, .lane = row.lane};
    } else {
      return address();
    }
  }

  /// `out` is nobody else's memory, which lets the compiler keep what the callable reads in registers.
  static void fill(const void* operation, unsigned lanes, LaneAddresses& __restrict out) {
    const auto& op = *static_cast<const LaneOp*>(operation);
    if constexpr (std::is_invocable_v<const Address&>) {
      out.rows = op.rows().within(lanes);
      out.active = 0;
    } else if constexpr (kIsOnly<Address>) {
      out.active = op.address.lanes;
      for (std::uint64_t left = out.active; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        out.address[lane] = op.address.address(lane).value;
      }
      out.rows.lanes = 0;
    } else if constexpr (kIsEvery<Address>) {
      // Of a whole wavefront at least, so that the compiler knows how many: who looks counts the active ones.
      for (unsigned lane = 0; lane < kMaxLanes; ++lane) out.address[lane] = op.address.address(lane).value;
      out.active = ~std::uint64_t{0} >> (kMaxLanes - lanes);
      out.rows.lanes = 0;
    } else {
      for (unsigned lane = 0; lane < lanes; ++lane) out.address[lane] = op.address(lane).value;
      out.active = ~idle_lanes(out.address) & (~std::uint64_t{0} >> (kMaxLanes - lanes));
      out.rows.lanes = 0;
    }
  }
};

template <class Address>
LaneOp<Address> load(unsigned bytes, Address address) {
  return {OpKind::Load, static_cast<std::uint8_t>(bytes), std::move(address)};
}
template <class Address>
LaneOp<Address> store(unsigned bytes, Address address) {
  return {OpKind::Store, static_cast<std::uint8_t>(bytes), std::move(address)};
}
template <class Address>
LaneOp<Address> atomic(unsigned bytes, Address address) {
  return {OpKind::Atomic, static_cast<std::uint8_t>(bytes), std::move(address)};
}

/// An operation but for its lanes in one word: kind, bytes, then its count or, of a scalar load, its 48-bit address.
enum class Plain : std::uint64_t {};

constexpr OpKind kind_of(Plain op) { return static_cast<OpKind>(static_cast<std::uint64_t>(op) & 0xff); }
constexpr std::uint8_t bytes_of(Plain op) { return static_cast<std::uint8_t>(static_cast<std::uint64_t>(op) >> 8); }
constexpr std::uint16_t count_of(Plain op) { return static_cast<std::uint16_t>(static_cast<std::uint64_t>(op) >> 16); }
constexpr std::uint64_t address_of(Plain op) { return static_cast<std::uint64_t>(op) >> 16; }

constexpr Plain plain(OpKind kind, std::uint64_t count_or_address, unsigned bytes = 0) {
  return Plain{count_or_address << 16 | std::uint64_t{bytes} << 8 | static_cast<std::uint64_t>(kind)};
}
constexpr Plain valu(unsigned instructions) { return plain(OpKind::VectorAlu, instructions); }
constexpr Plain salu(unsigned instructions) { return plain(OpKind::ScalarAlu, instructions); }
constexpr Plain local(unsigned instructions) { return plain(OpKind::Local, instructions); }
constexpr Plain barrier() { return plain(OpKind::Barrier, 1); }
constexpr Plain wait(unsigned outstanding) { return plain(OpKind::Wait, outstanding); }
constexpr Plain pause(unsigned cycles) { return plain(OpKind::Pause, cycles); }
constexpr Plain fence(Scope scope = Scope::System) { return plain(OpKind::Fence, static_cast<std::uint64_t>(scope)); }
constexpr Scope scope_of(Plain fence) { return static_cast<Scope>(count_of(fence)); }
constexpr Plain scalar_load(unsigned bytes, VirtAddr at) { return plain(OpKind::ScalarLoad, at.value, bytes); }

constexpr Op to_op(Plain packed) {
  Op op;
  op.kind = kind_of(packed);
  op.bytes = bytes_of(packed);
  op.count = op.kind == OpKind::ScalarLoad ? std::uint16_t{1} : count_of(packed);
  op.address = address_of(packed);
  return op;
}

/// Instructions an operation stands for: arithmetic and local memory are counted, everything else is one.
constexpr unsigned instructions(OpKind kind, unsigned count) {
  switch (kind) {
    case OpKind::VectorAlu:
    case OpKind::ScalarAlu:
    case OpKind::Local: return count;
    case OpKind::Pause:
    case OpKind::End: return 0;
    default: return 1;
  }
}
constexpr unsigned instructions(const Op& op) { return instructions(op.kind, op.count); }
constexpr unsigned instructions(Plain op) { return instructions(kind_of(op), count_of(op)); }

/// Frames of coroutines come from free lists by size: a wavefront's end feeds the next one's start.
namespace frames {
void* allocate(std::size_t bytes);
void release(void* frame, std::size_t bytes) noexcept;
/// Bytes of the largest frame handed out so far on this thread (bench and tests look at it).
std::size_t largest();
}  // namespace frames

/// Owns one suspended kernel coroutine.
class Stream {
 public:
  struct promise_type {
    Plain op = plain(OpKind::End, 0);
    Op::Lanes lanes = nullptr;
    const void* operation = nullptr;

    Stream get_return_object() { return Stream{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Plain next) noexcept {
      op = next;
      return {};
    }
    template <class Address>
    std::suspend_always yield_value(const LaneOp<Address>& next) noexcept {
      op = plain(next.kind, 1, next.bytes);
      lanes = &LaneOp<Address>::fill;
      operation = &next;
      return {};
    }
    void return_void() noexcept { op = plain(OpKind::End, 0); }
    void unhandled_exception() { throw; }

    static void* operator new(std::size_t bytes) { return frames::allocate(bytes); }
    static void operator delete(void* frame, std::size_t bytes) { frames::release(frame, bytes); }
  };

  Stream() = default;
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { reset(); }

  /// Where its frame begins.
  const void* frame() const { return handle_.address(); }

  /// Runs the kernel to its next operation; OpKind::End for ever once it has returned. A word comes back as it has just
  /// been written: the host need not wait for it as it would for a structure made of several writes.
  Plain step() {
    if (!handle_.done()) handle_.resume();
    return handle_.promise().op;
  }
  /// What the lanes of the memory operation at which it stands touch.
  void lanes(unsigned count, LaneAddresses& out) const {
    const promise_type& promise = handle_.promise();
    promise.lanes(promise.operation, count, out);
  }
  /// The same as step(), with all of the operation.
  Op next() {
    Op op = to_op(step());
    if (op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::Atomic) {
      op.lanes = handle_.promise().lanes;
      op.operation = handle_.promise().operation;
    }
    return op;
  }

 private:
  explicit Stream(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  void reset() {
    if (handle_) handle_.destroy();
    handle_ = nullptr;
  }

  std::coroutine_handle<promise_type> handle_;
};

}  // namespace nearfar
