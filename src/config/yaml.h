// YAML as systems are written in it: mappings, sequences and scalars that know where they stand.
// Anchors, aliases, tags, directives, several documents and deep nesting are refused: a system needs none of them.
#pragma once

#include <memory>
#include <string>
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
};

struct YamlEntry {
  std::string key;
  Place key_place;
  YamlNode value;
};

/// Parses one document whose root is a mapping; every mistake is an InputError that points at it.
YamlNode parse_yaml(const std::shared_ptr<const Source>& source);

}  // namespace nearfar
