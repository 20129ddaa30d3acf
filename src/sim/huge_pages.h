// Large pages of the host for the simulator's own memory.
#pragma once

namespace nearfar {

/// Has malloc ask for large pages: what a run touches is spread over more pages than the host's TLB holds. glibc reads
/// that wish only when a program starts, so the program starts once more, with it in the environment. To be called
/// first; goes on as if nothing had been asked where it cannot be had. Who wants one start alone, as valgrind does,
/// sets GLIBC_TUNABLES to something.
void use_huge_pages(char** argv);

}  // namespace nearfar
