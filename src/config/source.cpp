// Reading texts with every check that must come before a parser sees them, and pointing into them.
#include "config/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "config/error.h"

namespace nearfar {
namespace {

constexpr std::size_t kLargestText = std::size_t{1} << 20;
constexpr std::size_t kWidestExcerpt = 100;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Length of the well-formed UTF-8 character at `at`, or 0 (overlong forms, surrogates and strays are not well formed).
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto in = [](unsigned value, unsigned least, unsigned most) { return value >= least && value <= most; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (in(lead, 0xc2, 0xdf)) return in(byte(1), 0x80, 0xbf) ? 2 : 0;
  if (in(lead, 0xe0, 0xef)) {
    const unsigned least = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : 0xbf;
    return in(byte(1), least, most) && in(byte(2), 0x80, 0xbf) ? 3 : 0;
  }
  if (in(lead, 0xf0, 0xf4)) {
    const unsigned least = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xf4 ? 0x8f : 0xbf;
    return in(byte(1), least, most) && in(byte(2), 0x80, 0xbf) && in(byte(3), 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

struct Fault {
  std::size_t offset;
  std::string message;
};

std::optional<Fault> first_fault(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (is_control(text[i])) {
      return Fault{i, fmt::format("the control character 0x{:02x} does not belong in a text.",
                                  static_cast<unsigned char>(text[i]))};
    }
    const std::size_t length = character_length(text, i);
    if (length == 0) {
      return Fault{i, fmt::format("the byte 0x{:02x} is not UTF-8; texts are read as UTF-8.",
                                  static_cast<unsigned char>(text[i]))};
    }
    i += length;
  }
  return std::nullopt;
}

/// What a terminal can show in one column a character: everything else, such as escapes that a quoted value may hold,
/// becomes a question mark.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const bool plain = length > 0 && !is_control(text[i]) && text[i] != '\n' && text[i] != '\r';
    out += !plain ? "?" : text[i] == '\t' ? " " : text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) i += std::max<std::size_t>(character_length(text, i), 1);
  return count;
}

struct Line {
  std::size_t begin;
  std::size_t end;  // without its line break
};

Line line_around(std::string_view text, std::size_t offset) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  std::size_t end = std::min(text.find('\n', begin), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return {begin, end};
}

/// The part of a long line that is shown: some of it before the place, the rest after.
Line window(std::string_view text, Line line, std::size_t offset) {
  if (line.end - line.begin <= kWidestExcerpt) return line;
  std::size_t begin = offset > line.begin + kWidestExcerpt / 2 ? offset - kWidestExcerpt / 2 : line.begin;
  std::size_t end = std::min(begin + kWidestExcerpt, line.end);
  while (begin > line.begin && is_continuation(text[begin])) --begin;
  while (end < line.end && is_continuation(text[end])) ++end;
  return {begin, end};
}

/// The end of a text stands behind its last character, not on an empty line below it.
std::size_t visible_offset(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  while (offset > 0 && offset == text.size() && (text[offset - 1] == '\n' || text[offset - 1] == '\r')) {
    text.remove_suffix(1);
    --offset;
  }
  return offset;
}

}  // namespace

std::size_t Place::line() const {
  const std::size_t at = visible_offset(source->text, offset);
  return 1 +
         static_cast<std::size_t>(std::count(source->text.begin(), source->text.begin() + static_cast<long>(at), '\n'));
}

std::size_t Place::column() const {
  const std::size_t at = visible_offset(source->text, offset);
  const Line around = line_around(source->text, at);
  return 1 + characters(std::string_view(source->text).substr(around.begin, at - around.begin));
}

std::string Place::origin() const {
  return source->kind == Source::Kind::Override ? source->name
                                                : fmt::format("{}:{}:{}", source->name, line(), column());
}

std::string Place::excerpt() const {
  const std::string_view text = source->text;
  const std::size_t at = visible_offset(text, offset);
  const Line shown = window(text, line_around(text, at), at);
  const std::size_t marked_end = std::clamp(at + length, at, std::max(at, shown.end));
  const std::string before = printable(text.substr(shown.begin, at - shown.begin));
  const std::size_t tail = std::max<std::size_t>(characters(text.substr(at, marked_end - at)), 1) - 1;
  const bool in_file = source->kind == Source::Kind::File;
  const std::string number = in_file ? fmt::format("{:5} | ", line()) : "  ";
  const std::string margin = in_file ? "      | " : "  ";
  std::string line_text = number + printable(text.substr(shown.begin, shown.end - shown.begin));
  line_text.erase(line_text.find_last_not_of(' ') + 1);
  return fmt::format("{}\n{}{}^{}", line_text, margin, std::string(characters(before), ' '), std::string(tail, '~'));
}

void fail_at(const Place& place, std::string_view message, std::string_view details) {
  std::string problem =
      fmt::format("{}\n{}{}{}", printable(message), place.excerpt(), details.empty() ? "" : "\n", details);
  if (place.source->kind == Source::Kind::Override) {
    throw OverrideError(place.source->text, place.origin(), std::move(problem));
  }
  throw InputError(fmt::format("{}: {}", place.origin(), problem));
}

std::shared_ptr<const Source> make_source(std::string text, const std::string& shown_as, Source::Kind kind) {
  if (text.size() > kLargestText) {
    throw InputError(fmt::format("{}: is larger than 1MiB, which no system needs.", shown_as));
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  auto source = std::make_shared<Source>(Source{shown_as, std::move(text), kind});
  if (const auto fault = first_fault(source->text)) fail_at({source, fault->offset, 1}, fault->message);
  return source;
}

std::shared_ptr<const Source> read_source(const std::string& path, const std::string& shown_as) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw InputError(fmt::format("{}: is a directory, not a file.", shown_as));
  // A status that is unknown, as in a folder without permission, does not mean that nothing is there.
  if (!fs::status_known(status)) throw InputError(fmt::format("{}: cannot be read: {}.", shown_as, error.message()));
  if (!fs::exists(status)) throw InputError(fmt::format("{}: there is no such file.", shown_as));
  if (!fs::is_regular_file(status)) throw InputError(fmt::format("{}: is not a regular file.", shown_as));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read: {}.", shown_as, std::strerror(errno)));
  std::string text(kLargestText + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read: {}.", shown_as, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return make_source(std::move(text), shown_as);
}

}  // namespace nearfar
