// SPDX-License-Identifier: BSL-1.0

#pragma once

// Everything a program needs to compose and run sessions. Providers and environments have headers of their
// own
// (<thalweg/providers/…>, <thalweg/environments/…>), as do Asio interop and the test kit.

#include <thalweg/async/channel.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/run_main.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/describe.hpp>
#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/protocol/provider.hpp>
