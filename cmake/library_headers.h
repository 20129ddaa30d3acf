// What nearly every source includes of the standard library, fmt and Boost, read once for a whole build. No source may
// rely on it: with a compiler cache it is left out (CMakeLists.txt, NEARFAR_PCH).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>
