// Links without a limit as a design: what other designs at the egress can gain at most.
#include "designs/registry.h"

namespace nearfar {

void register_infinite_links(DesignRegistry& registry) {
  registry.add({.name = "infinite-links",
                .sentence = "Bytes take no time on links, whose latency stays.",
                .seams = {"egress"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .settings = {"link.bandwidth=100000GB/s"},
                .readme = "src/designs/infinite_links/README.md",
                .paper = "finepack"});
}

}  // namespace nearfar
