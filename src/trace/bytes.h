// The smallest pieces of a trace: numbers of one to ten bytes, seven bits each, and text behind its length. What is
// read is checked against the end of the bytes before anything is made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

using ByteVector = std::vector<std::uint8_t>;

/// What is wrong with some bytes, and where among them. Whoever knows the file makes it an InputError.
class MalformedBytes : public std::runtime_error {
 public:
  MalformedBytes(std::size_t at, const std::string& what) : std::runtime_error(what), offset(at) {}

  std::size_t offset;
};

/// Small numbers of either sign as small numbers: 0, -1, 1, -2, …
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
}
constexpr std::uint64_t unzigzag(std::uint64_t folded) { return folded >> 1 ^ (std::uint64_t{0} - (folded & 1)); }

inline void put_number(ByteVector& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

inline void put_text(ByteVector& out, std::string_view text) {
  put_number(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

/// A number that is known to be whole; moves `at` behind it.
inline std::uint64_t take_number(const std::uint8_t*& at) {
  std::uint64_t value = *at & 0x7fU;
  for (unsigned shift = 7; *at++ >= 0x80; shift += 7) value |= std::uint64_t{*at & 0x7fU} << shift;
  return value;
}

/// Reads bytes that may be anything.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::size_t offset() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  bool at_end() const { return left() == 0; }

  std::uint8_t byte() {
    if (at_end()) fail("it ends in the middle");
    return bytes_[at_++];
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7fU} << shift;
      if (next < 0x80) return value;
    }
    fail("a number has more than 64 bits");
  }
  std::uint64_t number(std::uint64_t minimum, std::uint64_t maximum, std::string_view what);
  /// How many of something follow, each of at least one byte.
  std::size_t count(std::string_view what, std::size_t most = ~std::size_t{0});
  std::string text();
  std::span<const std::uint8_t> take(std::size_t bytes) {
    if (bytes > left()) fail("it ends in the middle");
    at_ += bytes;
    return bytes_.subspan(at_ - bytes, bytes);
  }

  [[noreturn]] void fail(const std::string& what) const { throw MalformedBytes(at_, what); }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace nearfar
