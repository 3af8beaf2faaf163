// SPDX-License-Identifier: Apache-2.0
// One input of a fuzz target: bytes that a reader is given as a file. Whatever they are, the reader
// refuses them with an Error or returns arrays that are a graph.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/graph/transform.hpp"

#include "graph/io/format.hpp"

namespace warren::graph {

/// The formats that a target's inputs are read as. Several share an input where the bytes mean much
/// the same.
inline const std::map<std::string, std::vector<io::FileKind>>& fuzz_targets() {
  using files::Compression;
  using io::FileFormat;
  static const std::map<std::string, std::vector<io::FileKind>> targets{
      {"edge_list",
       {{FileFormat::edge_list, Compression::none},
        {FileFormat::weighted_edge_list, Compression::none},
        {FileFormat::snap, Compression::none},
        {FileFormat::csv, Compression::none}}},
      {"matrix_market", {{FileFormat::matrix_market, Compression::none}}},
      {"dimacs", {{FileFormat::dimacs, Compression::none}}},
      {"metis", {{FileFormat::metis, Compression::none}}},
      {"gap",
       {{FileFormat::gap, Compression::none}, {FileFormat::gap_weighted, Compression::none}}},
      {"scipy", {{FileFormat::scipy, Compression::none}}},
      {"edge_index", {{FileFormat::edge_index, Compression::none}}},
      {"warren", {{FileFormat::warren, Compression::none}}},
      {"gzip", {{FileFormat::snap, Compression::gzip}, {FileFormat::metis, Compression::gzip}}},
      {"zstd", {{FileFormat::snap, Compression::zstd}, {FileFormat::metis, Compression::zstd}}},
  };
  return targets;
}

/// Reads the bytes in every format of the target, with options that depend on their number. Aborts
/// where a graph comes out that is none.
inline void read_input(const std::string& target, const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMostVertices = std::uint64_t{1} << 16;  // Time and memory stay small.
  static exec::ThreadPool pool(1);
  const int file = memfd_create("input", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  ReadOptions options;
  options.compact = (size & 1) != 0;
  options.one_based = (size & 2) != 0;
  options.build.symmetrize = (size & 4) != 0;
  options.build.drop_self_loops = (size & 8) != 0;
  options.build.keep_duplicates = (size & 16) != 0;
  options.build.sum_duplicates = (size & 32) != 0;
  options.no_negative_weights = (size & 64) != 0;
  options.are_words = (size & 128) != 0;
  if ((size & 4) != 0 && (size & 16) != 0) options.has_headings = (size & 8) != 0;
  std::vector<std::string> words;
  options.words = (size & 2) == 0 ? &words : nullptr;
  for (const io::FileKind kind : fuzz_targets().at(target)) {
    try {
      const Graph graph = io::read_file({path, kind, options, pool, kMostVertices});
      try {
        validate(graph, path, pool);
      } catch (const Error& error) {
        std::fprintf(stderr, "the reader let pass what is no graph: %s\n", error.what());
        std::abort();
      }
    } catch (const InputError& error) {
      // "FILE:LINE: ..." or "FILE: ...", on one line.
      const std::string_view message = error.what();
      if (!message.starts_with(path + ":") || message.find('\n') != std::string_view::npos) {
        std::fprintf(stderr, "not a message for users: %s\n", error.what());
        std::abort();
      }
    }
  }
  close(file);
}

}  // namespace warren::graph
