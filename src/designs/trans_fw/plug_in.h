// Trans-FW as plug-ins: its two halves, each of which works alone.
#pragma once

#include <memory>

#include "config/plug_in.h"

namespace nearfar {

/// The Pending Request Tables of the GPUs.
std::shared_ptr<PlugIn> make_trans_fw_prt();
/// The Forwarding Table of the host, and the walks that GPUs make for one another.
std::shared_ptr<PlugIn> make_trans_fw_ft();

}  // namespace nearfar
