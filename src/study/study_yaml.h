// The pieces that a study's YAML is read with: texts, lists, mappings, each with its own complaint.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml.h"

namespace nearfar {

/// One word of a list, and where it stands.
struct PlacedText {
  std::string text;
  Place place;
};

/// Complains about the first key that is not allowed.
void check_keys(const YamlNode& mapping, std::string_view whose, std::span<const std::string> allowed);

/// `node` as a mapping, a text that is not empty, or a list of such texts (one alone is a list of one).
const YamlNode& as_mapping(const YamlNode& node, std::string_view key);
std::string as_text(const YamlNode& node, std::string_view key);
std::vector<PlacedText> as_texts(const YamlNode& node, std::string_view key);

/// The index of `text` in `words`; complains with the nearest of them.
std::size_t as_one_of(const PlacedText& text, std::string_view what, std::span<const std::string> words);

/// Refuses a list that names one thing twice.
void refuse_repeats(std::span<const PlacedText> texts);

}  // namespace nearfar
