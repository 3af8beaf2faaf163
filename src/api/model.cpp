// SPDX-License-Identifier: Apache-2.0
// Trained models in memory and in files.
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "warren/api/train.hpp"
#include "warren/core/error.hpp"

namespace warren {

struct Model::Parts {
  learn::TensorFile file;
  learn::Checkpoint facts;
};

Model::Model(learn::TensorFile file, const std::string& where) {
  auto parts = std::make_shared<Parts>();
  parts->facts = learn::checkpoint_of(file, where);
  parts->file = std::move(file);
  parts_ = std::move(parts);
}

const std::vector<learn::NamedTensor>& Model::weights() const { return parts_->file.tensors; }
const learn::Checkpoint& Model::facts() const { return parts_->facts; }
const learn::TensorFile& Model::file() const { return parts_->file; }

void Model::save(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw InputError(
        fmt::format("folder: got {}, which cannot be made: {}", folder, error.message()));
  learn::write_tensors(learn::model_path(folder), parts_->file);
}

Model load_model(const std::string& folder) {
  const std::string path = learn::model_path(folder);
  return Model(learn::read_tensors(path), path);
}

}  // namespace warren
