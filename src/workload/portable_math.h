// Functions of which the last bit is the same on every machine. Those of the system's library may differ there from
// processor to processor, and one bit in a random graph or in the course of a ray is another workload. Sums, products,
// quotients and square roots are exact by IEEE 754, and nothing else is used here.
#pragma once

#include <cmath>
#include <cstdint>

namespace nearfar::portable {

/// Natural logarithm of a positive number, to about 1e-15.
inline double log(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1, kRoot = 0x1.6a09e667f3bcdp-1;  // √½
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kRoot) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2·artanh((m - 1) / (m + 1)), whose argument is at most 0.18.
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * kLn2 + 2 * s * sum;
}

/// e to the power of x, to about 1e-15 of it.
inline double exp(double x) {
  constexpr double kHigh = 0x1.62e42fefa3800p-1, kLow = 0x1.ef35793c76730p-45;  // ln 2 in two pieces
  const double halvings = std::floor(x / kHigh + 0.5);
  const double rest = (x - halvings * kHigh) - halvings * kLow;
  double sum = 1;
  for (int k = 15; k >= 1; --k) sum = sum * rest / k + 1;
  return std::ldexp(sum, static_cast<int>(halvings));
}

inline double pow(double base, double exponent) { return exp(exponent * log(base)); }

namespace detail {
/// Sine and cosine of at most an eighth of a turn.
inline double small_sine(double angle) {
  const double square = angle * angle;
  double sum = 1;
  for (int k = 20; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k + 1));
  return angle * sum;
}
inline double small_cosine(double angle) {
  const double square = angle * angle;
  double sum = 1;
  for (int k = 20; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k - 1));
  return sum;
}
}  // namespace detail

/// Cosine of an angle in turns, in [0, 1]; quarter turns are exact.
inline double cosine_of_turn(double turn) {
  constexpr double kTurn = 0x1.921fb54442d18p+2;  // 2π
  if (turn > 0.5) turn = 1 - turn;
  if (turn > 0.25) return -cosine_of_turn(0.5 - turn);
  return turn > 0.125 ? detail::small_sine(kTurn * (0.25 - turn)) : detail::small_cosine(kTurn * turn);
}

/// Sine of an angle in turns, in [0, 1]; quarter turns are exact.
inline double sine_of_turn(double turn) {
  return turn > 0.25 ? cosine_of_turn(turn - 0.25) : cosine_of_turn(0.25 - turn);
}

}  // namespace nearfar::portable
