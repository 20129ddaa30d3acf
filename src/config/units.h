// Quantities as a person writes them: 2MiB, 32GB/s, 106.7ns, 1.4GHz. Reading is exact or refused; writing gives the
// shortest form that reads back as the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "config/quantity.h"

namespace nearfar {

/// What is wrong with a value, as a sentence. Whoever knows where the value stands makes an InputError of it.
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A whole number, digits only.
std::uint64_t parse_integer(std::string_view text);
/// 64, 64B, 16KiB, 2MiB, 4GiB, 1TiB.
Bytes parse_bytes(std::string_view text);
/// 800MHz, 1.4GHz.
Frequency parse_frequency(std::string_view text);
/// 32GB/s, 1TB/s, 16B/cycle; the last needs the clock, and without one there is no answer.
std::optional<Bandwidth> parse_bandwidth(std::string_view text, std::optional<Frequency> clock);
/// 107, 107 cycles, 106.7ns, 1.5us; real time needs the clock, is rounded half up, and without a clock has no answer.
std::optional<Cycle> parse_cycles(std::string_view text, std::optional<Frequency> clock);

std::string format_bytes(Bytes bytes);
std::string format_frequency(Frequency frequency);
std::string format_bandwidth(Bandwidth bandwidth);

}  // namespace nearfar
