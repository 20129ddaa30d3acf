// The contents of a line as the data oracle sees them: for each byte, which write to the line it holds. Writes are
// numbered in the order in which the home of the line has ordered them; 0 is what was there before the first.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "memory/byte_masks.h"

namespace nearfar {

/// The number of a write in the home's order of its line. Where it follows time, 32 bits are not enough.
using LineVersion = std::uint64_t;
/// A byte that nobody has written and that was never read from memory.
inline constexpr LineVersion kUndefinedByte = ~LineVersion{0};
/// A byte of a compute unit's own store that its home may not have ordered yet: later than all that is ordered.
inline constexpr LineVersion kOwnStore = kUndefinedByte - 1;

/// Most lines hold one write in all their bytes; only the others have a list of them.
class LineImage {
 public:
  LineImage() = default;
  explicit LineImage(LineVersion version) : uniform_(version) {}
  LineImage(const LineImage& other) : uniform_(other.uniform_) {
    if (other.bytes_) bytes_ = std::make_unique<Bytes>(*other.bytes_);
  }
  LineImage& operator=(const LineImage& other) {
    if (this != &other) *this = LineImage(other);
    return *this;
  }
  LineImage(LineImage&&) = default;
  LineImage& operator=(LineImage&&) = default;

  bool is_uniform() const { return bytes_ == nullptr; }
  LineVersion uniform() const { return uniform_; }
  LineVersion at(unsigned byte) const { return bytes_ ? (*bytes_)[byte] : uniform_; }

  void write(const ByteMask& mask, LineVersion version, unsigned line_bytes) {
    if (mask == ByteMask::all(line_bytes)) {
      uniform_ = version;
      bytes_.reset();
      return;
    }
    set_each(line_bytes, [&](unsigned byte) { return mask.test(byte) ? version : at(byte); });
  }
  /// Gives every byte the version that `version_of` answers.
  template <class VersionOf>
  void set_each(unsigned line_bytes, VersionOf version_of) {
    auto bytes = bytes_ ? std::make_unique<Bytes>(*bytes_) : std::make_unique<Bytes>();
    for (unsigned byte = 0; byte < line_bytes; ++byte) (*bytes)[byte] = version_of(byte);
    for (unsigned byte = line_bytes; byte < kMaxLineBytes; ++byte) (*bytes)[byte] = 0;
    bytes_ = std::move(bytes);
  }

  /// Whether `holds(version)` is true of every byte of this line.
  template <class Holds>
  bool every(unsigned line_bytes, Holds holds) const {
    if (is_uniform()) return holds(0U, uniform_);
    for (unsigned byte = 0; byte < line_bytes; ++byte) {
      if (!holds(byte, (*bytes_)[byte])) return false;
    }
    return true;
  }

  bool same(const LineImage& other, unsigned line_bytes) const {
    if (is_uniform() && other.is_uniform()) return uniform_ == other.uniform_;
    for (unsigned byte = 0; byte < line_bytes; ++byte) {
      if (at(byte) != other.at(byte)) return false;
    }
    return true;
  }

 private:
  using Bytes = std::array<LineVersion, kMaxLineBytes>;

  LineVersion uniform_ = 0;
  std::unique_ptr<Bytes> bytes_;
};

}  // namespace nearfar
