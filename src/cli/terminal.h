// Where text goes: whether a person is looking, how wide it is, and whether it may have colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nearfar {

enum class Tint : std::uint8_t { Plain, Bold, Dim, Red, Cyan };

struct Terminal {
  bool interactive = false;  ///< a terminal, not a file or a pipe
  bool colour = false;
  unsigned width = 0;  ///< in columns; 0 when unlimited

  /// Looks at a file descriptor. The environment's NO_COLOR and TERM=dumb turn colours off.
  static Terminal of(int descriptor);

  std::string paint(Tint tint, std::string_view text) const;
};

/// Columns a UTF-8 text takes, all of its characters being one wide.
std::size_t display_width(std::string_view text);

}  // namespace nearfar
