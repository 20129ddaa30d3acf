// What a workload does to memory, from its streams alone: no machine, no time. The GPUs only decide who runs which
// workgroup.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "program/workload.h"
#include "stats/reuse_distance.h"

namespace nearfar {

struct CharacterizeSpec {
  unsigned gpus = 4;
  unsigned cus_per_gpu = 64;  ///< decides where a split in blocks cuts the grid
  unsigned lanes = 64;
  unsigned line_bytes = 64;
  /// Wavefronts that take turns on a GPU, a memory instruction each: the order in which reuse is measured.
  unsigned resident = 256;
};

/// How often each value occurred; the last place collects all that are larger.
struct Distribution {
  static constexpr std::size_t kValues = 130;

  std::array<std::uint64_t, kValues> times{};

  void add(std::uint64_t value) { ++times[value < kValues ? value : kValues - 1]; }
  std::uint64_t count() const;
  double mean() const;
  std::uint64_t least() const;
  std::uint64_t most() const;
};

/// Distances in bytes from an active lane's address to the next one's.
struct Strides {
  /// 0, then (2^(k-1), 2^k] for k = 0..32, and everything that goes backwards.
  static constexpr std::size_t kForward = 34;

  std::array<std::uint64_t, kForward> forward{};
  std::uint64_t backward = 0;

  void add(std::uint64_t from, std::uint64_t to);
  /// "0 B", "5–8 B", "1–2 KiB": what a place of `forward` holds.
  static std::string label(std::size_t place);
};

/// Of one buffer, or of all.
struct Touched {
  std::uint64_t pages = 0;                          ///< that anybody touches
  std::uint64_t lines = 0;                          ///< likewise
  std::uint64_t lines_read = 0, lines_written = 0;  ///< line accesses
  std::vector<std::uint64_t> pages_by;              ///< by number of GPUs - 1: pages that many touch
  std::vector<std::uint64_t> written_pages_by;      ///< of these, those that somebody writes
};

struct BufferTouched {
  std::string name;
  std::uint64_t bytes = 0;
  bool private_copies = false;
  Touched touched;
};

struct Characterization {
  CharacterizeSpec spec;
  std::uint64_t launches = 0, workgroups = 0, wavefronts = 0, instructions = 0;
  std::uint64_t loads = 0, stores = 0, atomics = 0, scalar_loads = 0, barriers = 0;
  std::uint64_t lanes_reading = 0, lanes_writing = 0;  ///< active lanes of vector memory instructions
  std::uint64_t bytes = 0;                             ///< of all buffers
  Touched touched;                                     ///< without private copies in `pages_by`
  std::vector<BufferTouched> buffers;
  Distribution lines, pages;  ///< of a vector memory instruction
  Strides strides;
  ReuseCurve page_reuse, line_reuse;  ///< within a GPU, over all launches

  std::uint64_t accesses() const { return touched.lines_read + touched.lines_written; }
  std::uint64_t vector_instructions() const { return loads + stores + atomics; }
};

Characterization characterize(const Workload& workload, const CharacterizeSpec& spec);

}  // namespace nearfar
