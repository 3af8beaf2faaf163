// SPDX-License-Identifier: Apache-2.0
// All that most programs need: graphs, datasets, sessions, and a function an algorithm.
#pragma once

#include "warren/api/array.hpp"
#include "warren/api/check_machine.hpp"
#include "warren/api/dataset.hpp"
#include "warren/api/distributed_graph.hpp"
#include "warren/api/graph.hpp"
#include "warren/api/multiply.hpp"
#include "warren/api/partition.hpp"
#include "warren/api/progress.hpp"
#include "warren/api/ranks.hpp"
#include "warren/api/report.hpp"
#include "warren/api/rows.hpp"
#include "warren/api/run.hpp"
#include "warren/api/sample.hpp"
#include "warren/api/search_each.hpp"
#include "warren/api/session.hpp"
#include "warren/api/statistics.hpp"
#include "warren/api/table.hpp"
#include "warren/api/train.hpp"
#include "warren/api/traverse.hpp"
#include "warren/api/walks.hpp"
