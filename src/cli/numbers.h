// Numbers as a person reads them: grouped digits, binary sizes, decimal rates.
#pragma once

#include <cstdint>
#include <string>

namespace nearfar {

std::string grouped(std::uint64_t value);        ///< 8,388,608
std::string fixed(double value, int digits);     ///< 3.40
std::string percent(double part, double whole);  ///< 12.3 %; "-" of nothing
std::string size_text(double bytes);             ///< 128.0 MiB
std::string rate_text(double bytes_per_second);  ///< 55.1 GB/s
std::string count_text(double value);            ///< 3.40 M
std::string time_text(double seconds);           ///< 1.23 ms
std::string clock_text(double hertz);            ///< 1 GHz

}  // namespace nearfar
