// SPDX-License-Identifier: BSL-1.0

#pragma once

// The events that one fact gives: a list whose places are used again, so that the update of a delta writes
// into the one before it instead of making a new one.

#include <thalweg/agent/agent_event.hpp>

#include <span>
#include <utility>
#include <vector>

namespace thalweg {

class event_slots {
public:
    void clear() noexcept { count_ = 0; }
    /// Lets go of everything that earlier events hold.
    void forget() noexcept {
        slots_.clear();
        count_ = 0;
    }

    template <class Event>
    void add(Event what) {
        place().what_ = std::move(what);
    }

    /// The next place if it holds an `Event` already, else a fresh one there: its fields may be old.
    template <class Event>
    Event& reuse() {
        auto& what = place().what_;
        if (Event* kept = std::get_if<Event>(&what)) return *kept;
        return what.template emplace<Event>();
    }

    [[nodiscard]] std::span<const agent_event> all() const noexcept { return {slots_.data(), count_}; }

private:
    agent_event& place() {
        if (count_ == slots_.size()) slots_.emplace_back();
        return slots_[count_++];
    }

    std::vector<agent_event> slots_;
    std::size_t count_ = 0;
};

} // namespace thalweg
