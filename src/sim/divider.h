// Division by a number that is known once a system is read, for the many divisions of a run: a shift for powers of two,
// else a multiplication where that is exact, and the host's division beyond.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

namespace nearfar {

class Divider {
 public:
  struct Result {
    std::uint64_t quotient;
    std::uint64_t remainder;
  };

  constexpr explicit Divider(std::uint64_t divisor = 1)
      : divisor_(divisor),
        factor_(std::has_single_bit(divisor) ? 0 : ~std::uint64_t{0} / divisor + 1),
        exact_below_(factor_ == 0 ? 0 : ~std::uint64_t{0} / (factor_ * divisor)),
        shift_(static_cast<unsigned>(std::countr_zero(divisor))) {
    assert(divisor != 0);
  }

  constexpr std::uint64_t divisor() const { return divisor_; }
  constexpr std::uint64_t quotient(std::uint64_t n) const {
    if (factor_ == 0) return n >> shift_;
    if (n >= exact_below_) return n / divisor_;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(n) * factor_ >> 64);
  }
  /// The quotient, rounded up.
  constexpr std::uint64_t ceiling(std::uint64_t n) const { return quotient(n + divisor_ - 1); }
  constexpr Result divide(std::uint64_t n) const {
    const std::uint64_t whole = quotient(n);
    return {whole, n - whole * divisor_};
  }
  constexpr std::uint64_t remainder(std::uint64_t n) const { return divide(n).remainder; }

 private:
  std::uint64_t divisor_;
  std::uint64_t factor_;  ///< 2^64 / divisor, rounded up; 0 for powers of two
  /// Rounding up makes the factor too large by e = factor × divisor − 2^64, which shows from 2^64 / e on.
  std::uint64_t exact_below_;
  unsigned shift_;
};

}  // namespace nearfar
