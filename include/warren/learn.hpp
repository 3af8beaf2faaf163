// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor learn: models of layers, losses, optimizers, training.
#pragma once

#include "warren/learn/checkpoint.hpp"
#include "warren/learn/convolution.hpp"
#include "warren/learn/links.hpp"
#include "warren/learn/loss.hpp"
#include "warren/learn/model.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/optimizer.hpp"
#include "warren/learn/settings.hpp"
#include "warren/learn/trainer.hpp"
