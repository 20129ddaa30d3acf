// A text that a person gave us (a file, an override) and places in it: what an error message points at.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace nearfar {

struct Source {
  enum class Kind { File, Override };

  std::string name;  ///< as it is shown: systems/base.yaml, or --set
  std::string text;
  Kind kind = Kind::File;
};

/// Some bytes of a source. A place without a source is nowhere.
struct Place {
  std::shared_ptr<const Source> source;
  std::size_t offset = 0;
  std::size_t length = 1;

  std::size_t line() const;    ///< from 1
  std::size_t column() const;  ///< from 1, in characters
  /// "systems/base.yaml:12:9" in a file, "--set" in an override.
  std::string origin() const;
  /// The source's line, with a caret and a tail under the place.
  std::string excerpt() const;
};

/// Throws an InputError: origin, message, excerpt, and what else there is to say under it.
[[noreturn]] void fail_at(const Place& place, std::string_view message, std::string_view details = "");

/// Reads a file whole. Refuses, saying why: what is missing, no regular file, over 1 MiB, binary, or not UTF-8.
std::shared_ptr<const Source> read_source(const std::string& path, const std::string& shown_as);

/// The same for a text that is in memory already.
std::shared_ptr<const Source> make_source(std::string text, const std::string& shown_as,
                                          Source::Kind kind = Source::Kind::File);

}  // namespace nearfar
