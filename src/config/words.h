// Small pieces of text handling that the commands share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

/// The parts between separators; an empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);
/// The names in "a+b"; one that is missing, as in "a+", is an InputError that says of `what`.
std::vector<std::string> split_names(std::string_view what, std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// A whole number in [minimum, maximum]; anything else is an InputError that names `what`.
std::uint64_t parse_whole(std::string_view what, std::string_view text, std::uint64_t minimum, std::uint64_t maximum);

}  // namespace nearfar
