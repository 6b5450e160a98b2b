// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who is told what happens (R-EVT-82…87): an ordered list that may change while it is being told.
//
// Everyone gets every event in the same order. One that is removed while an event is delivered gets nothing
// more, that event included if its turn had not come; one that is added begins with the next event. A fault
// of a listener is reported and keeps nobody from anything. Loop thread.

#include <thalweg/agent/agent_event.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/protocol/message.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace thalweg {

namespace detail {

/// One listener of either view.
using listener = std::variant<std::function<void(const agent_event&)>,
                              std::function<task<void>(const agent_event&)>,
                              std::function<void(const message&)>, std::function<task<void>(const message&)>>;

struct listener_entry {
    explicit listener_entry(listener l) : call(std::move(l)) {}
    listener call;
    bool is_gone = false;
};

template <class What, class Call>
listener listener_for(Call call) {
    using given = std::invoke_result_t<Call&, const What&>;
    constexpr bool is_plain = std::is_void_v<given>;
    static_assert(is_plain || std::same_as<given, task<void>>,
                  "thalweg: a listener gives nothing or a `task<void>`");
    if constexpr (is_plain)
        return std::function<void(const What&)>(std::move(call));
    else
        return std::function<task<void>(const What&)>(std::move(call));
}

/// Stops the build with a sentence if `call` is no listener.
template <class Call>
[[nodiscard]] listener listener_of(Call call) {
    constexpr bool hears_events = std::invocable<Call&, const agent_event&>;
    constexpr bool hears_messages = std::invocable<Call&, const message&>;
    static_assert(hears_events || hears_messages,
                  "thalweg: a listener takes a `const agent_event&` or a `const message&`");
    static_assert(!(hears_events && hears_messages),
                  "thalweg: a listener takes either events or messages; name the type of its parameter");
    if constexpr (hears_events)
        return listener_for<agent_event>(std::move(call));
    else
        return listener_for<message>(std::move(call));
}

} // namespace detail

/// Keeps a listener subscribed; the listener is gone with it. Movable; may outlive the agent.
class [[nodiscard]] subscription {
public:
    subscription() noexcept = default; ///< of nothing
    explicit subscription(std::weak_ptr<detail::listener_entry> entry) noexcept : entry_(std::move(entry)) {}
    subscription(subscription&& other) noexcept : entry_(std::exchange(other.entry_, {})) {}
    subscription& operator=(subscription&& other) noexcept {
        if (this != &other) {
            reset();
            entry_ = std::exchange(other.entry_, {});
        }
        return *this;
    }
    ~subscription() { reset(); }

    /// Unsubscribes now; also from inside the listener itself.
    void reset() noexcept {
        if (const auto entry = std::exchange(entry_, {}).lock()) entry->is_gone = true;
    }

private:
    std::weak_ptr<detail::listener_entry> entry_;
};

class listeners {
public:
    listeners() = default;
    listeners(const listeners&) = delete;

    [[nodiscard]] subscription add(detail::listener l) {
        entries_.push_back(std::make_shared<detail::listener_entry>(std::move(l)));
        return subscription(std::weak_ptr<detail::listener_entry>(entries_.back()));
    }

    /// One delivery to those that are there when it begins.
    class round {
    public:
        explicit round(listeners& of) noexcept : of_(of), size_(of.entries_.size()) { ++of_.rounds_; }
        round(const round&) = delete;
        ~round() {
            if (--of_.rounds_ == 0) of_.sweep();
        }
        [[nodiscard]] std::size_t size() const noexcept { return size_; }

        /// Tells the listener at `at`. What it gives back, if it owns anything, has to be awaited.
        template <class What>
        [[nodiscard]] task<void> tell(std::size_t at, const What& what) {
            detail::listener_entry& entry = *of_.entries_[at];
            if (entry.is_gone) return {};
            if (auto* plain = std::get_if<std::function<void(const What&)>>(&entry.call)) {
                (*plain)(what);
            } else if (auto* awaited = std::get_if<std::function<task<void>(const What&)>>(&entry.call)) {
                return (*awaited)(what);
            }
            return {};
        }

    private:
        listeners& of_;
        std::size_t size_;
    };

private:
    /// Only now: a listener that removes itself is running until it returns.
    void sweep() noexcept {
        std::erase_if(entries_, [](const auto& entry) { return entry->is_gone; });
    }

    std::vector<std::shared_ptr<detail::listener_entry>> entries_;
    int rounds_ = 0; // under way
};

} // namespace thalweg
