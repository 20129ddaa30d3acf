// A text file line by line, compressed by xz or not: what importers read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

class LineReader {
 public:
  /// Whether it is compressed is seen by its first bytes. An InputError where the file cannot be read.
  explicit LineReader(std::string path);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  /// The next line, without its end; false behind the last. It is valid until the next call.
  bool next(std::string_view& line);
  /// Of the line that was read last, from 1 on.
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  /// Throws an InputError that names the file and the line.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Decompressor;

  bool refill();

  std::string path_;
  int descriptor_ = -1;
  std::unique_ptr<Decompressor> decompressor_;
  std::string text_;  ///< read, not yet handed out
  std::size_t at_ = 0;
  std::string line_;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

/// The words of a line between blanks.
void split_words(std::string_view line, std::vector<std::string_view>& words);

}  // namespace nearfar
