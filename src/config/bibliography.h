// The publications that designs, systems, suites of workloads and claims come from, each once, under a short name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nearfar {

struct Publication {
  std::string_view key;  ///< idyll
  std::string_view authors;
  std::string_view title;
  std::string_view venue;
  unsigned year = 0;  ///< 0 where there is none
};

/// All of them, sorted by key.
std::span<const Publication> bibliography();

/// Authors, title, venue and year of the publication with this key. What has a space in it is no key but such a text
/// itself, as plug-ins and files from elsewhere bring it; "" stays "". Throws an InputError for a key that is unknown.
std::string citation(std::string_view key_or_text);

/// "Li et al., MICRO 2023", for tables.
std::string short_citation(std::string_view key_or_text);

}  // namespace nearfar
