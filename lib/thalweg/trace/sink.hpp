// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where a session's records go. The engine hands over what is about to be delivered, in stream order and
// before the consumer sees it, so a crash loses no record that anybody has seen; what became ready together
// comes in one call.
//
// Thread rule: loop thread. A sink may suspend; the engine then waits with the delivery.

#include <thalweg/async/task.hpp>
#include <thalweg/protocol/message.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace thalweg::trace {

class sink {
public:
    virtual ~sink() = default;

    /// Records those of `messages` that are recordable (R-TRC-10), in order. Resolves when they are in the
    /// file. An error concerns this call only; the session goes on and reports it (R-TRC-13, D-24).
    [[nodiscard]] virtual task<result<void>> write(std::span<const message> messages) = 0;

    /// The next write goes to a new file (R-TRC-04).
    virtual void rotate() = 0;

    /// Everything recorded so far, over all files of the session, in order; lines that cannot be read are
    /// left out. May block. Errors: errc::unreadable where a sink keeps nothing it could read; what the
    /// system says.
    [[nodiscard]] virtual result<std::vector<message>> read_back() const;

    /// Where it writes to, for messages to people; empty if nowhere in particular.
    [[nodiscard]] virtual std::string_view path() const noexcept = 0;

protected:
    sink() = default;
    sink(const sink&) = default;
    sink& operator=(const sink&) = default;
};

} // namespace thalweg::trace
