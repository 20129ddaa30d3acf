// The files in claims/: one for each paper, as YAML (docs/reproduction.md).
#pragma once

#include <string>
#include <vector>

#include "report/claim.h"

namespace nearfar {

/// All papers of claims/, by name. Every mistake in a file is an InputError that points at it.
std::vector<Paper> read_papers();

/// Those with these names; an unknown one is an InputError that names the nearest right one. None: all.
std::vector<Paper> read_papers(const std::vector<std::string>& names);

/// A paper from a text in memory; `id` is its name.
Paper read_paper_text(const std::string& text, const std::string& shown_as, const std::string& id);

std::vector<std::string> paper_names();

}  // namespace nearfar
