#include "coherence/umh/umh_spec.h"

#include "config/schema.h"

namespace nearfar {

void SmdSpec::describe(Section& section) {
  section.integer("ways", ways, Limits::powers_of_two(1, 64), "blocks",
                  "Blocks of a set of a stacked memory that is a cache of the host's memory.");
  section.cycles("latency", latency, {0, 1000},
                 "Lookup in the directory of a stacked memory; 0 derives it from the size of the directory.");
  section.integer("transactions", transactions, {1, 4096}, "blocks",
                  "Blocks that the directory of a stacked memory may have asked the host for at once.");
  section.integer("put_buffer", put_buffer, {1, 4096}, "blocks",
                  "Blocks that may have left a stacked memory for the host without an acknowledgement yet.");
}

void HmdSpec::describe(Section& section) {
  section.integer("count", count, Limits::powers_of_two(1, 16), "modules",
                  "Modules of the host's memory in a unified memory hierarchy, each with a directory of its own, among "
                  "which blocks are interleaved.");
  section.cycles("latency", latency, {0, 1000}, "Lookup in the directory of a module of the host's memory.");
  section.integer("transactions", transactions, {1, 4096}, "blocks",
                  "Blocks of a module of the host's memory for which requests are served at once.");
}

void UmhSpec::describe(Section& section) {
  section.bytes("block", block, Limits::powers_of_two(512, 16384),
                "Unit of the stacked memories and of all that travels between GPUs and host in a unified memory "
                "hierarchy.");
  section.bytes("interleave", interleave, {0, 16384},
                "Neighbouring bytes in one slice of the L2 and one stacked memory, a power of two from a line to a "
                "block; 0 is a block.");
  section.bytes("granule", granule, Limits::one_of({1, 2, 4, 8}),
                "Bytes that one bit of the mask of changed bytes stands for; stores that do not cover whole granules "
                "are coherent ones.");
  section.cycles("row_cycles", row_cycles, {1, 1000},
                 "Precharge, activation and column access of a stacked memory, which each access through its directory "
                 "takes.");
  section.flag("bank_conflicts", bank_conflicts,
               "A row cycle of a stacked memory keeps its bank from the next access; if false it is latency alone, and "
               "only the data bus bounds how many accesses there are.");
  section.choice<UmhL1>("l1_write_policy", l1,
                        {{"write_through", UmhL1::WriteThrough}, {"write_back", UmhL1::WriteBack}},
                        "What L1 caches are in a unified memory hierarchy: with write_through the baseline's, whose "
                        "stores and atomics the L2 performs; with write_back caches of the hierarchy, which perform "
                        "them where they have the permission, and which the L2 probes.");
  section.child("smd", smd, "The directories of stacked memories.");
  section.child("hmd", hmd, "The directories of the host's memory.");
  section.flag("peer_transfer", peer_transfer,
               "A block that another GPU owns comes from that GPU and not from the host.");
  section.choice<UmhSupplier>("peer_supplier", peer_supplier,
                              {{"owner", UmhSupplier::Owner}, {"any_sharer", UmhSupplier::AnySharer}},
                              "Which other GPU sends a block, with umh.peer_transfer: owner is the one that was "
                              "granted the only copy or has changed it, any_sharer also one of those that only read "
                              "it.");
  section.choice<UmhOnRead>(
      "o_on_read", o_on_read,
      {{"shared", UmhOnRead::Shared}, {"keep", UmhOnRead::Keep}, {"invalidate", UmhOnRead::Invalidate}},
      "What a changed copy is after another reader has asked for it: with keep it stays owned; with shared it is "
      "shared, or owned where umh.peer_transfer is on; with invalidate an owned one leaves.");
  section.choice<UmhWriteBack>("writeback", writeback,
                               {{"whole_block", UmhWriteBack::WholeBlock}, {"dirty_lines", UmhWriteBack::DirtyLines}},
                               "What a changed block takes on a link and at the host's memory when it goes home: with "
                               "whole_block all of its lines, with dirty_lines those that have changed bytes.");
  section.flag("clean_eviction_notice", clean_eviction_notice,
               "Copies that are evicted unchanged are put like changed ones, without data, so that directories forget "
               "who held them; if false, they leave silently.");
  section.bytes("completion_bytes", completion_bytes, {0, 64},
                "What the notice that a block is in its place takes on a link; with 0 it rides on the link's own "
                "acknowledgements.");
  section.choice<UmhBoundary>(
      "kernel_boundary", kernel_boundary,
      {{"publish", UmhBoundary::Publish}, {"flush_all", UmhBoundary::FlushAll}, {"none", UmhBoundary::None}},
      "What happens when a kernel has ended on all GPUs: publish makes what was stored non-coherently visible to all, "
      "flush_all writes everything back and drops it, none does nothing and is no protocol for programs of several "
      "launches.");
  section.choice<UmhSync>("sync", sync, {{"dynamic", UmhSync::Dynamic}, {"final_flush", UmhSync::FinalFlush}},
                          "How the host's core comes to see what GPUs have stored: dynamic brings the blocks that it "
                          "touches home, final_flush all changed ones before its first access.");
}

}  // namespace nearfar
