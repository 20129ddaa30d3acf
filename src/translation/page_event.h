// An event of a component of translation that is about a page. What else its handler has to know is in a type that
// derives from it.
#pragma once

#include "sim/event.h"
#include "translation/page.h"

namespace nearfar {

struct PageEvent : Event {
  PageKey page;
};

}  // namespace nearfar
