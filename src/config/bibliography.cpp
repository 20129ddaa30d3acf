#include "config/bibliography.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/error.h"
#include "config/nearest.h"

namespace nearfar {
namespace {

constexpr std::array kPublications = {
    Publication{"amd-app-sdk", "Advanced Micro Devices", "Accelerated Parallel Processing SDK", "sample programs"},
    Publication{"asap", "A. Margaritov, D. Ustiugov, E. Bugnion and B. Grot", "Prefetched Address Translation", "MICRO",
                2019},
    Publication{"carve", "V. Young, A. Jaleel, E. Bolotin, E. Ebrahimi, D. Nellans and O. Villa",
                "Combining HW/SW Mechanisms to Improve NUMA Performance of Multi-GPU Systems", "MICRO", 2018},
    Publication{"dnnmark", "S. Dong and D. Kaeli", "DNNMark: A Deep Neural Network Benchmark Suite for GPUs", "GPGPU",
                2017},
    Publication{"dws", "B. Pratheek, N. Jawalkar and A. Basu", "Improving GPU Multi-tenancy with Page Walk Stealing",
                "HPCA", 2021},
    Publication{"finepack", "H. Muthukrishnan, D. Lustig, O. Villa, T. Wenisch and D. Nellans",
                "FinePack: Transparently Improving the Efficiency of Fine-Grained Transfers in Multi-GPU Systems",
                "HPCA", 2023},
    Publication{"gps", "H. Muthukrishnan, D. Lustig, D. Nellans and T. Wenisch",
                "GPS: A Global Publish-Subscribe Model for Multi-GPU Memory Management", "MICRO", 2021},
    Publication{"hetero-mark",
                "Y. Sun, X. Gong, A. K. Ziabari, L. Yu, X. Li, S. Mukherjee, C. McCardwell, A. Villegas and D. Kaeli",
                "Hetero-Mark, a Benchmark Suite for CPU-GPU Collaborative Computing", "IISWC", 2016},
    Publication{"hmg", "X. Ren, D. Lustig, E. Bolotin, A. Jaleel, O. Villa and D. Nellans",
                "HMG: Extending Cache Coherence Protocols Across Modern Hierarchical Multi-GPU Systems", "HPCA", 2020},
    Publication{"idyll", "B. Li, Y. Guo, Y. Wang, A. Jaleel, J. Yang and X. Tang",
                "IDYLL: Enhancing Page Translation in Multi-GPUs via Light Weight PTE Invalidations", "MICRO", 2023},
    Publication{"least-tlb", "B. Li, J. Yin, Y. Zhang and X. Tang",
                "Improving Address Translation in Multi-GPUs via Sharing and Spilling aware TLB Design", "MICRO", 2021},
    Publication{"mgpusim",
                "Y. Sun, T. Baruah, S. A. Mojumder, S. Dong, X. Gong, S. Treadway, Y. Bao, S. Hance, C. McCardwell, V. "
                "Zhao, H. Barclay, A. K. Ziabari, Z. Chen, R. Ubal, J. L. Abellán, J. Kim, A. Joshi and D. Kaeli",
                "MGPUSim: Enabling Multi-GPU Performance Modeling and Optimization", "ISCA", 2019},
    Publication{"multi-grain", "J. Zebchuk, B. Falsafi and A. Moshovos", "Multi-grain Coherence Directories", "MICRO",
                2013},
    Publication{"neighborhood", "S. Shin, M. LeBeane, Y. Solihin and A. Basu",
                "Neighborhood-Aware Address Translation for Irregular GPU Applications", "MICRO", 2018},
    Publication{"nvls", "NVIDIA", "NVIDIA H100 Tensor Core GPU Architecture", "white paper", 2022},
    Publication{"pannotia", "S. Che, B. M. Beckmann, S. K. Reinhardt and K. Skadron",
                "Pannotia: Understanding Irregular GPGPU Graph Applications", "IISWC", 2013},
    Publication{"polybench", "S. Grauer-Gray, L. Xu, R. Searles, S. Ayalasomayajula and J. Cavazos",
                "Auto-tuning a High-Level Language Targeted to GPU Codes", "InPar", 2012},
    Publication{"rec", "G. Ko, J. Lee, H. Kal, H. Lee and W. W. Ro",
                "REC: Enhancing fine-grained cache coherence protocol in multi-GPU systems",
                "Journal of Systems Architecture", 2025},
    Publication{"rodinia", "S. Che, M. Boyer, J. Meng, D. Tarjan, J. W. Sheaffer, S.-H. Lee and K. Skadron",
                "Rodinia: A Benchmark Suite for Heterogeneous Computing", "IISWC", 2009},
    Publication{"sequential-prefetching", "A. J. Smith", "Cache Memories", "ACM Computing Surveys 14(3)", 1982},
    Publication{"shoc",
                "A. Danalis, G. Marin, C. McCurdy, J. S. Meredith, P. C. Roth, K. Spafford, V. Tipparaju and J. S. "
                "Vetter",
                "The Scalable Heterogeneous Computing (SHOC) Benchmark Suite", "GPGPU", 2010},
    Publication{"srrip", "A. Jaleel, K. B. Theobald, S. C. Steely Jr. and J. Emer",
                "High Performance Cache Replacement Using Re-Reference Interval Prediction (RRIP)", "ISCA", 2010},
    Publication{"tartan", "A. Li, S. L. Song, J. Chen, X. Liu, N. Tallent and K. Barker",
                "Tartan: Evaluating Modern GPU Interconnect via a Multi-GPU Benchmark Suite", "IISWC", 2018},
    Publication{"trans-fw", "B. Li, J. Yin, A. Holey, Y. Zhang, J. Yang and X. Tang",
                "Trans-FW: Short Circuiting Page Table Walk in Multi-GPU Systems via Remote Forwarding", "HPCA", 2023},
    Publication{"translation-dissertation", "B. Li", "Towards Efficient and Scalable Multi-GPU Computing",
                "dissertation", 2024},
    Publication{"umh", "A. K. Ziabari, Y. Sun, Y. Ma, D. Schaa, J. L. Abellán, R. Ubal, J. Kim, A. Joshi and D. Kaeli",
                "UMH: A Hardware-Based Unified Memory Hierarchy for Systems with Multiple Discrete GPUs",
                "ACM TACO 13(4)", 2016},
    Publication{"valkyrie",
                "T. Baruah, Y. Sun, S. A. Mojumder, J. L. Abellán, Y. Ukidave, A. Joshi, N. Rubin, J. Kim and D. Kaeli",
                "Valkyrie: Leveraging Inter-TLB Locality to Enhance GPU Performance", "PACT", 2020},
};
static_assert(std::ranges::is_sorted(kPublications, {}, &Publication::key));

/// Nothing for a text.
const Publication* publication(std::string_view key_or_text) {
  if (key_or_text.empty() || key_or_text.find(' ') != std::string_view::npos) return nullptr;
  const auto found = std::ranges::find(kPublications, key_or_text, &Publication::key);
  if (found != kPublications.end()) return &*found;
  std::vector<std::string> keys;
  for (const Publication& known : kPublications) keys.emplace_back(known.key);
  throw InputError(fmt::format(
      "There is no publication `{}` in the bibliography.{} One that is not in it is given as authors, title, venue and "
      "year.",
      key_or_text, did_you_mean(std::string(key_or_text), keys)));
}

std::string with_year(const Publication& found) {
  return found.year == 0 ? std::string(found.venue) : fmt::format("{} {}", found.venue, found.year);
}

/// The name behind the initials of the first author, or of an organization all of it.
std::string_view first_author(std::string_view authors) {
  std::string_view first = authors.substr(0, std::min(authors.find(", "), authors.find(" and ")));
  while (first.size() > 2 && first.find(". ") != std::string_view::npos) first.remove_prefix(first.find(". ") + 2);
  return first;
}

}  // namespace

std::span<const Publication> bibliography() { return kPublications; }

std::string citation(std::string_view key_or_text) {
  const Publication* found = publication(key_or_text);
  if (found == nullptr) return std::string(key_or_text);
  return fmt::format("{}, \"{}\", {}", found->authors, found->title, with_year(*found));
}

std::string short_citation(std::string_view key_or_text) {
  const Publication* found = publication(key_or_text);
  if (found == nullptr) return std::string(key_or_text);
  const std::string_view authors = found->authors;
  const bool several = authors.find(" and ") != std::string_view::npos;
  return fmt::format("{}{}, {}", first_author(authors), several ? " et al." : "", with_year(*found));
}

}  // namespace nearfar
