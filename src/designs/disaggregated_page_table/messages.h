// What the devices tell one another about leaf tables that lie on one GPU, and the walks made for that.
//
// In all of them `page` names the leaf table by a page in it. In requests to a home, `number` is the version of the
// home that the sender knows of.
#pragma once

#include "translation/message_kind.h"
#include "translation/walk/walk_kind.h"

namespace nearfar::dpt {

/// GPU → home: read the entry of `page` for GPU `to`; `stamp`: cycles that it has waited in the GPUs it came to.
inline const MessageKind kLeafRead = add_message_kind({.name = "dpt.leaf-read", .needs_walk = true});
/// Home → GPU: `mapping`, where `held`; else the entry has none that the GPU may use. `stamp` cycles in queues, `extra`
/// in the walk.
inline const MessageKind kLeafAnswer = add_message_kind({.name = "dpt.leaf-answer", .response = true});
/// GPU → home: write `mapping`, which GPU `to` has been sent; `faulted`: a miss there waits for it; `tells_done`: the
/// host does.
inline const MessageKind kUpdate = add_message_kind({.name = "dpt.update", .needs_walk = true});
/// Home → GPU: `mapping` has been written, or, where it is not `held`, is older than the entry.
inline const MessageKind kUpdated = add_message_kind({.name = "dpt.updated", .response = true});
/// Host → home: the entry of `page` becomes invalid with the epoch of `mapping`.
inline const MessageKind kClear = add_message_kind({.name = "dpt.clear", .needs_walk = true});
/// Home → host: it is; `extra` are the access bits that it had.
inline const MessageKind kCleared = add_message_kind({.name = "dpt.cleared", .response = true});
/// GPU → host: the first mapping in a leaf table has come here: where is it to be?
inline const MessageKind kHomeWanted = add_message_kind({.name = "dpt.home-wanted"});
/// Host or old home → all: GPU `to` is the home from version `number` on; `held`: it waits for kHomeKnown.
inline const MessageKind kHome = add_message_kind({.name = "dpt.home"});
/// GPU or host → new home: the sender knows.
inline const MessageKind kHomeKnown = add_message_kind({.name = "dpt.home-known", .response = true});
/// Old home → new home: the leaf table itself; `stamp` and `accounted` say where the simulator has it.
inline const MessageKind kTablePage =
    add_message_kind({.name = "dpt.table-page", .response = true, .table_page = true});

/// Walks at the home for the entry of a page: to read it, and to write it.
inline const WalkKind kLeafReadWalk = add_walk_kind({.name = "dpt.leaf-read"});
inline const WalkKind kLeafWriteWalk = add_walk_kind({.name = "dpt.leaf-write", .writes = true});

}  // namespace nearfar::dpt
