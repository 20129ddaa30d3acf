// YAML as systems and studies are written in it: mappings, sequences and scalars that know where they stand.
// Anchors, aliases, tags, directives, several documents and deep nesting are refused: nothing here needs them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/source.h"

namespace nearfar {

struct YamlEntry;

struct YamlNode {
  enum class Kind { Scalar, Mapping, Sequence };

  Kind kind = Kind::Scalar;
  Place place;
  std::string text;                ///< scalar; "" also where nothing was written
  std::vector<YamlEntry> entries;  ///< mapping, in the order of the file; no key twice
  std::vector<YamlNode> items;     ///< sequence

  /// The value of a mapping's key, or nothing.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Place key_place;
  YamlNode value;
};

/// What a file is, for the messages about it.
struct YamlSubject {
  std::string_view name = "system";
  std::string_view plural = "systems";
  std::string_view example = "gpus: 4";
  std::string_view instead_of_anchors = "inherit with `base` instead";
};

/// Parses one document whose root is a mapping; every mistake is an InputError that points at it.
YamlNode parse_yaml(const std::shared_ptr<const Source>& source, const YamlSubject& subject = {});

}  // namespace nearfar
