// SPDX-License-Identifier: Apache-2.0
#include "warren/files/npy_stream.hpp"

#include <algorithm>

#include "warren/core/error.hpp"

namespace warren::files {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

}  // namespace

NpyStream::NpyStream(const ZipReader& zip, const std::string& path, const std::string& name)
    : label_(path + ": " + name), stream_(zip.open(name + ".npy")) {
  piece_.resize(std::min(kNpyFirstBytes, stream_.size()));
  (void)stream_.read(piece_.data(), piece_.size());
  const std::uint64_t header = npy_header_bytes(piece_.data(), stream_.size(), label_);
  const std::uint64_t before = piece_.size();
  if (header > before) {
    piece_.resize(header);
    (void)stream_.read(piece_.data() + before, header - before);
  }
  array_ = parse_npy(piece_.data(), stream_.size(), label_);
  array_.data = nullptr;
  left_ = array_.count;
}

NpyArray NpyStream::next() {
  NpyArray piece = array_;
  piece.count = std::min(left_, std::max<std::uint64_t>(kPieceBytes / array_.width, 1));
  piece.shape = {piece.count};
  piece_.resize(piece.count * array_.width);
  (void)stream_.read(piece_.data(), piece_.size());
  left_ -= piece.count;
  piece.data = piece_.data();
  return piece;
}

void NpyStream::fail(const std::string& what) const { throw InputError(label_ + ": " + what); }

}  // namespace warren::files
