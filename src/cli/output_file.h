// A file that holds a whole result or does not exist.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace nearfar {

/// Where a result goes. Made before the work begins, so that a place that cannot be written to is an InputError then.
class OutputFile {
 public:
  /// "-" is standard output.
  explicit OutputFile(std::string path);

  bool is_stdout() const { return path_ == "-"; }
  /// Writes beside the file and renames, with SIGINT and SIGTERM held back for as long. What is no regular file (a
  /// device, a pipe) is written to directly.
  void write(std::string_view text) const;

 private:
  std::string path_;
  bool regular_ = true;
};

/// Whether one of these is standard output; an InputError when two are.
bool any_stdout(std::initializer_list<const std::optional<OutputFile>*> files);

/// Writes all of `text` to standard output, or throws InputError.
void write_stdout(std::string_view text);

}  // namespace nearfar
