// The page of `nearfar explore`: everything that it needs is in it.
#pragma once

#include <string>

namespace nearfar {

std::string explore_page();

}  // namespace nearfar
