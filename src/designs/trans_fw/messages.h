// What the devices tell one another about forwarded faults, and the walks made for them.
#pragma once

#include "translation/message_kind.h"
#include "translation/walk/walk_kind.h"

namespace nearfar::trans_fw {

/// Host → GPU: look `page` up for GPU `to`, whose fault `number` has had `accounted` cycles; `stamp` is the forward's
/// number at the host; `held`: what is found is the answer to the fault.
inline const MessageKind kForward = add_message_kind({.name = "trans-fw.forward", .needs_walk = true});
/// GPU → GPU: `mapping`, found for a fault of the receiver, after `stamp` cycles in the queue and `extra` in the walk;
/// `held` as in the forward.
inline const MessageKind kDirect = add_message_kind({.name = "trans-fw.direct", .response = true, .needs_walk = true});
/// GPU → host: what became of the forward with the number `accounted`: `held` if it was found; `stamp` and `extra` as
/// in kDirect.
inline const MessageKind kNotice = add_message_kind({.name = "trans-fw.notice", .response = true});

/// A walk of a GPU for a forwarded fault of another.
inline const WalkKind kForwardedWalk = add_walk_kind({.name = "forwarded"});

}  // namespace nearfar::trans_fw
