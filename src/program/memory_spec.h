// How the memories of host and GPUs are managed for a program that computes on both, as a system's configuration names
// it.
#pragma once

#include <cstdint>

namespace nearfar {

class Section;

enum class MemoryManagement : std::uint8_t {
  Placed,      ///< pages are where `placement` puts them, and whoever touches them reaches them there
  Memcpy,      ///< the host and the GPUs have a copy each; copies before and after kernels
  ZeroCopy,    ///< all pages are the host's, pinned, and GPUs reach them over the links
  Umh,         ///< all pages are the host's, and GPU memory is a coherent cache of them (coherence/umh)
  SoftwareUm,  ///< as Memcpy, but a runtime that knows nothing of the program copies all that may be needed
};

/// What is copied in before the first kernel.
enum class CopyIn : std::uint8_t {
  All,   ///< every buffer
  Read,  ///< those of which kernels may read what the host has written
};

struct MemorySpec {
  MemoryManagement management = MemoryManagement::Placed;
  CopyIn copy_in = CopyIn::All;

  /// The host has a copy of every buffer of its own.
  bool copies() const { return management == MemoryManagement::Memcpy || management == MemoryManagement::SoftwareUm; }
  void describe(Section& section);
};

}  // namespace nearfar
