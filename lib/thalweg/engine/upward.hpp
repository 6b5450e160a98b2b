// SPDX-License-Identifier: BSL-1.0

#pragma once

// The approver of a child: asks the parent's about each call, which then names the child (R-PRO-61,
// R-ENG-81). An absent parent's approver denies. Bigger than an approver holds: hand it over by std::ref, and
// keep it where it is until the child's run has ended. Loop thread.

#include <thalweg/protocol/approver.hpp>

#include <utility>
#include <vector>

namespace thalweg::detail {

class upward {
public:
    /// `child`: the hop to put in front of the call's origin; outlives this.
    upward(approver asks, const text& child) noexcept : asks_(asks), child_(child) {}

    task<decision> operator()(const tool_call& call) {
        decision given = decision::deny;
        if (!asks_) co_return given;
        std::vector<text> hops = call.origin();
        hops.insert(hops.begin(), child_);
        tool_call named = tool_call(call).with_origin(std::move(hops));
        given = co_await asks_(named);
        co_return given;
    }

private:
    approver asks_;
    const text& child_;
};

} // namespace thalweg::detail
