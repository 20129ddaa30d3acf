// What the Oclgrind plugin tells the recorder while a program runs: messages over a socket, each a kind (one byte), the
// number of bytes that follow (four, little-endian), and those bytes, made of the numbers and texts of bytes.h.
#pragma once

#include <cstdint>

namespace nearfar::opencl {

/// Environment of the recorded program: the socket's descriptor.
inline constexpr const char* kSocketVariable = "NEARFAR_OPENCL_SOCKET";
inline constexpr std::uint64_t kMessagesVersion = 1;

enum class Message : std::uint8_t {
  Hello,        ///< version, process: OpenCL is in use
  Allocate,     ///< context, address, bytes: memory of the device
  Free,         ///< context, address
  HostRead,     ///< context, address, bytes
  HostWrite,    ///< context, address, bytes
  DeviceCopy,   ///< context, from, to, bytes: from memory of the device to memory of the device
  KernelBegin,  ///< context, name, grid x y z in workgroups, workgroup x y z in items, bytes of local memory, number of
                ///< buffers among the arguments; of each its name and address
  Function,     ///< code of a function that is executed for the first time in this kernel (`read_function`)
  GroupBegin,   ///< workgroup x y z in the grid, its size x y z: smaller at the end of a grid that is no multiple
  Slice,        ///< work-item in its workgroup; what it did next (`LaneTag`) is the rest of the message
  GroupCopy,    ///< number of accesses of an asynchronous copy; of each whether it is a store, bytes, address
  Barrier,      ///< bits of kLocalFence, kGlobalFence: all work-items that go on have met at one
  GroupEnd,
  KernelEnd,
  Refuse,  ///< text: what cannot be recorded
};

inline constexpr std::uint64_t kLocalFence = 1, kGlobalFence = 2;

/// What a work-item did, in order: a number whose low three bits are one of these. The accesses of an instruction stand
/// before it.
enum class LaneTag : std::uint8_t {
  Run,     ///< executed instructions: difference of the first from the one behind the run before, folded; then how many
  Load,    ///< bytes; then the difference of the address from that of the access before, folded
  Store,   ///< the same
  Atomic,  ///< the same
  Local,   ///< bytes
};
inline constexpr unsigned kLaneTagBits = 3;

/// What an instruction of a kernel is to a wavefront.
enum class CodeKind : std::uint8_t {
  Free,     ///< takes no time: names another register, or belongs to the compiler
  Vector,   ///< `count` vector instructions
  Scalar,   ///< `count` scalar instructions: branches
  Memory,   ///< what it touches stands with each execution; nothing is private memory, which counts as registers
  Uniform,  ///< a load of which it is certain that all work-items read one place that no kernel writes
  Call,     ///< of a function with code
  Return,
  Barrier,
  Fence,  ///< `count` is bits of kLocalFence, kGlobalFence
};

}  // namespace nearfar::opencl
