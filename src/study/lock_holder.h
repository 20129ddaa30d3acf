// Who has a file locked, for messages to people.
#pragma once

#include <string>

namespace nearfar {

/// "process 123 (nearfar study trans-fw-fig25)", or "another program" where that cannot be seen. It does not open the
/// file: closing it would give up the locks that this program has on it.
std::string lock_holder(const std::string& path);

}  // namespace nearfar
