// A case of the machine fuzzer: one run, as a person would type it. A corpus file is a case with comments above it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar::fuzz {

/// How a case is run. The statistics of all variants must be equal.
struct Variant {
  bool check = false;
  unsigned threads = 1;

  /// As it stands on a command line; empty for a plain run on one thread.
  std::string options() const;
};

struct Case {
  std::string workload;                 ///< "MT", or "FIR+KM" for one application on each GPU
  std::vector<std::string> parameters;  ///< of --param
  std::uint64_t seed = 1;
  std::string system;
  std::vector<std::string> designs;
  std::vector<std::string> overrides;  ///< of --set

  /// "nearfar run MT --size small …". Inputs are always of the small size or less.
  std::string command(const Variant& variant = {}) const;
};

/// The case that a text holds: lines that begin with # are comments, the other is a command. Throws InputError.
Case parse_case(std::string_view text);

}  // namespace nearfar::fuzz
