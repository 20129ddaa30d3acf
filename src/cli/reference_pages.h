// The reference as pages in Markdown, made from the declarations themselves: what `nearfar list` and `nearfar explain`
// say of everything that there is.
#pragma once

#include <string>
#include <vector>

namespace nearfar {

struct ReferencePage {
  std::string name;  ///< of its file: parameters.md
  std::string text;
};

/// Parameters, statistics, designs, systems, workloads, studies, claims and the bibliography, with a page that leads to
/// them (index.md).
std::vector<ReferencePage> reference_pages();

}  // namespace nearfar
