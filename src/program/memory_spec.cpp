// The parameters of memory management.
#include "program/memory_spec.h"

#include "config/schema.h"

namespace nearfar {

void MemorySpec::describe(Section& section) {
  section.choice<MemoryManagement>(
      "management", management,
      {{"placed", MemoryManagement::Placed},
       {"memcpy", MemoryManagement::Memcpy},
       {"zero-copy", MemoryManagement::ZeroCopy},
       {"umh", MemoryManagement::Umh},
       {"software-um", MemoryManagement::SoftwareUm}},
      "How data gets to GPUs and back: placed is as `placement` says; memcpy has buffers in the host's memory and, cut "
      "into one range for each GPU, in GPU memory, and copies what has changed between them before and after kernels; "
      "zero-copy has all buffers in the host's memory; umh has them there too, and the GPUs' memories are coherent "
      "caches (`umh`); and software-um is memcpy that copies whatever the host has "
      "touched in, and all buffers out.");
  section.choice<CopyIn>("copy_in", copy_in, {{"all", CopyIn::All}, {"read", CopyIn::Read}},
                         "With memory.management memcpy, which buffers are copied in before the first kernel: all, or "
                         "read, which leaves out those that kernels overwrite.");
}

}  // namespace nearfar
