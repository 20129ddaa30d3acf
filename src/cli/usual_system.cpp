#include "cli/usual_system.h"

#include <algorithm>

#include "cli/arguments.h"
#include "designs/design.h"

namespace nearfar {

std::string usual_system(const Design& design) {
  if (!design.system.empty()) return design.system;
  if (std::ranges::find(design.seams, "egress") != design.seams.end()) return "finepack-4gpu";
  if (design.systems.empty()) return kDefaultSystem;
  switch (design.systems.front()) {
    case TranslationKind::Ats: return "ats-4gpu";
    case TranslationKind::Mmu: return "mmu-4gpu";
    case TranslationKind::Svm: return "svm-1gpu";
    case TranslationKind::Mig: return "mig-a100";
    case TranslationKind::Ideal: break;
  }
  return kDefaultSystem;
}

}  // namespace nearfar
