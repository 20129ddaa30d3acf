#include "study/study_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/nearest.h"

namespace nearfar {

void check_keys(const YamlNode& mapping, std::string_view whose, std::span<const std::string> allowed) {
  for (const YamlEntry& entry : mapping.entries) {
    if (std::ranges::find(allowed, entry.key) != allowed.end()) continue;
    const std::string guess = did_you_mean(entry.key, allowed);
    fail_at(entry.key_place, fmt::format("{} has no key `{}`.{}", whose, entry.key, guess),
            guess.empty() ? fmt::format("Its keys are {}.", fmt::join(allowed, ", ")) : "");
  }
}

const YamlNode& as_mapping(const YamlNode& node, std::string_view key) {
  if (node.kind == YamlNode::Kind::Scalar && node.text.empty()) {
    static const YamlNode empty{YamlNode::Kind::Mapping, {}, "", {}, {}};
    return empty;
  }
  if (node.kind != YamlNode::Kind::Mapping)
    fail_at(node.place, fmt::format("`{}` takes a mapping of keys to values.", key));
  return node;
}

std::string as_text(const YamlNode& node, std::string_view key) {
  if (node.kind != YamlNode::Kind::Scalar || node.text.empty()) {
    fail_at(node.place, fmt::format("`{}` takes a text.", key));
  }
  return node.text;
}

std::vector<PlacedText> as_texts(const YamlNode& node, std::string_view key) {
  if (node.kind == YamlNode::Kind::Scalar && !node.text.empty()) return {{node.text, node.place}};
  if (node.kind != YamlNode::Kind::Sequence || node.items.empty()) {
    fail_at(node.place, fmt::format("`{}` takes a list, such as [a, b].", key));
  }
  std::vector<PlacedText> texts;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::Scalar || item.text.empty()) {
      fail_at(item.place, fmt::format("`{}` takes a list of words.", key));
    }
    texts.push_back({item.text, item.place});
  }
  return texts;
}

std::size_t as_one_of(const PlacedText& text, std::string_view what, std::span<const std::string> words) {
  const auto found = std::ranges::find(words, text.text);
  if (found == words.end()) {
    const std::string guess = did_you_mean(text.text, words);
    fail_at(text.place, fmt::format("there is no {} `{}`.{}", what, text.text, guess),
            guess.empty() ? fmt::format("There is {}.", fmt::join(words, ", ")) : "");
  }
  return static_cast<std::size_t>(found - words.begin());
}

void refuse_repeats(std::span<const PlacedText> texts) {
  std::set<std::string> seen;
  for (const PlacedText& text : texts) {
    if (!seen.insert(text.text).second) fail_at(text.place, fmt::format("`{}` is named twice.", text.text));
  }
}

}  // namespace nearfar
