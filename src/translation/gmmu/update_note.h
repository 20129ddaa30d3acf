// What a walk that writes a mapping is for: bits of Walk::note.
#pragma once

#include <cstdint>

namespace nearfar::update_note {

inline constexpr std::uint64_t kAnswersFault = 1;
inline constexpr std::uint64_t kTellsHost = 2;
inline constexpr std::uint64_t kDowngrades = 4;
inline constexpr std::uint64_t kCancels = 8;     ///< an invalidation that had not been written is void by it
inline constexpr std::uint64_t kOvertaken = 16;  ///< an invalidation came while it was walking
inline constexpr std::uint64_t kAnnounced = 32;  ///< the observer knows of it

}  // namespace nearfar::update_note
