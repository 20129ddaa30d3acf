// A file that holds a whole result or does not exist.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace nearfar {

/// Where a result goes. Made before the work begins, so that a place that cannot be written to is an InputError then.
/// A file that is there keeps its permissions; one that is read-only is not replaced.
class OutputFile {
 public:
  /// "-" is standard output.
  explicit OutputFile(std::string path);

  bool is_stdout() const { return name_ == "-"; }
  /// Writes beside the file and renames, with SIGINT and SIGTERM held back for as long. What is no regular file (a
  /// device, a pipe) is written to directly.
  void write(std::string_view text) const;

  /// As it was typed.
  const std::string& name() const { return name_; }
  /// Whether what is written to one would be lost to the other.
  bool is_same(const OutputFile& other) const;

 private:
  std::string name_;
  std::string path_;  ///< without links at its end
  bool regular_ = true;
};

/// Refuses two results in one place. Returns whether one of them goes to standard output.
bool check_outputs(std::initializer_list<const std::optional<OutputFile>*> files);

/// Writes all of `text` to standard output, or throws InputError.
void write_stdout(std::string_view text);

}  // namespace nearfar
