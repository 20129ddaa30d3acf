#include "translation/message_kind.h"

#include <fmt/format.h>

#include <stdexcept>

namespace nearfar {
namespace detail {

// Constant from the start: other sources add kinds before main() begins.
constinit MessageKindTable message_kinds{{{{.name = "ats-request"},
                                           {.name = "ats-response", .response = true},
                                           {.name = "fault"},
                                           {.name = "map", .response = true, .needs_walk = true},
                                           {.name = "move-request"},
                                           {.name = "move-refused", .response = true},
                                           {.name = "invalidate", .needs_walk = true},
                                           {.name = "downgrade", .needs_walk = true},
                                           {.name = "acknowledge", .response = true},
                                           {.name = "transfer"},
                                           {.name = "data", .response = true, .needs_walk = true},
                                           {.name = "part", .response = true},
                                           {.name = "done", .response = true}}},
                                         static_cast<std::size_t>(MessageKind::FirstOfDesigns)};

}  // namespace detail

MessageKind add_message_kind(const MessageTraits& traits) {
  detail::MessageKindTable& table = detail::message_kinds;
  if (table.used == kMostMessageKinds) {
    throw std::length_error(fmt::format("too many kinds of messages for `{}`", traits.name));
  }
  table.traits[table.used] = traits;
  return static_cast<MessageKind>(table.used++);
}

}  // namespace nearfar
