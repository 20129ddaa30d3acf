// Graphs and matrices from the user's own files.
#pragma once

#include <string>

#include "workload/graph/csr.h"

namespace nearfar {

/// Reads a graph. The format is told by the file's beginning or the end of its name:
///   Matrix Market (`%%MatrixMarket matrix coordinate …`): entry (i, j) is the edge i → j; square matrices only
///   DIMACS (`.gr`): `p sp n m`, then `a from to weight`
///   METIS (`.graph`): `n m`, then one line of neighbours for each vertex
///   anything else is a list of edges, `from to [weight]` a line, vertices from 0 on, # and % begin comments
/// Edges have weights when the file gives each of them a whole number of at least 1. Repeated edges are kept once and
/// their weights added. What is wrong is an InputError that names file, line and column.
Csr read_graph(const std::string& path);

}  // namespace nearfar
