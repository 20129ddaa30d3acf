// Terminal properties and ANSI colours.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace nearfar {

Terminal Terminal::of(int descriptor) {
  Terminal terminal;
  terminal.interactive = isatty(descriptor) == 1;
  if (!terminal.interactive) return terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
  terminal.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  return terminal;
}

std::string Terminal::paint(Tint tint, std::string_view text) const {
  if (!colour || tint == Tint::Plain || text.empty()) return std::string(text);
  const char* code = tint == Tint::Bold ? "1" : tint == Tint::Dim ? "2" : tint == Tint::Red ? "31" : "36";
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

}  // namespace nearfar
