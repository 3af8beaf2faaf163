// SPDX-License-Identifier: Apache-2.0
// Text on its way into a file, compressed or not.
#pragma once

#include <memory>
#include <string_view>

#include "warren/core/output_file.hpp"
#include "warren/files/decompressor.hpp"

namespace warren::files {

class TextOutput {
 public:
  virtual ~TextOutput() = default;
  virtual void write(std::string_view text) = 0;
  /// Ends the compressed stream. Nothing can be written afterwards.
  virtual void finish() = 0;
};
[[nodiscard]] std::unique_ptr<TextOutput> make_text_output(OutputFile& file,
                                                           Compression compression);

}  // namespace warren::files
