// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who answers whether a tool call may run.
//
// Any callable that takes a `const tool_call&` and gives a decision or a `task<decision>`, of at most 24
// bytes and trivially copyable: a function, a lambda without captures or with captured references and
// pointers, or std::ref of anything bigger. The limits make run options trivially destructible, which is what
// lets `co_await collect(chat.run("go", {.approve = allow_all}))` be correct under g++ 12.

#include <thalweg/async/task.hpp>
#include <thalweg/protocol/events.hpp>
#include <thalweg/protocol/tool_call.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace thalweg {

class approver {
public:
    static constexpr std::size_t capacity = 24; // bytes

    constexpr approver() noexcept = default; ///< nobody: every call is denied (R-ENG-22)

    /// `answer` is asked once per call, one call at a time, in stream order (R-ENG-20). It may suspend as
    /// long as it likes. Throwing means deny. What it refers to must outlive the run.
    template <class Answer>
        requires(!std::same_as<std::remove_cvref_t<Answer>, approver> &&
                 std::invocable<std::decay_t<Answer>&, const tool_call&>)
    approver(Answer&& answer) noexcept {
        using stored = std::decay_t<Answer>;
        static_assert(
            sizeof(stored) <= capacity && std::is_trivially_copyable_v<stored>,
            "thalweg: an approver holds at most 24 trivially copyable bytes; capture references, or pass "
            "std::ref(callable)");
        using answered = std::invoke_result_t<stored&, const tool_call&>;
        static_assert(std::same_as<answered, decision> || std::same_as<answered, task<decision>>,
                      "thalweg: an approver gives a `decision` or a `task<decision>`");
        ::new (static_cast<void*>(storage_)) stored(std::forward<Answer>(answer));
        ask_ = [](void* callable, const tool_call& call) -> task<decision> {
            if constexpr (std::same_as<answered, decision>) {
                return at_once(*std::launder(static_cast<stored*>(callable)), call);
            } else {
                return std::invoke(*std::launder(static_cast<stored*>(callable)), call);
            }
        };
    }

    /// Anything else stops the build with a sentence.
    template <class Answer>
        requires(!std::same_as<std::remove_cvref_t<Answer>, approver> &&
                 !std::invocable<std::decay_t<Answer>&, const tool_call&>)
    approver(Answer&&) noexcept {
        static_assert(
            std::invocable<std::decay_t<Answer>&, const tool_call&>,
            "thalweg: an approver is a function that takes a `const tool_call&` and gives a `decision` "
            "or a `task<decision>`; allow_all and deny_all are ready-made");
    }

    [[nodiscard]] explicit operator bool() const noexcept { return ask_ != nullptr; }

    /// Asks. The approver must stay where it is until the task has ended: a coroutine lambda refers to its
    /// closure.
    [[nodiscard]] task<decision> operator()(const tool_call& call) { return ask_(storage_, call); }

private:
    template <class Stored>
    static task<decision> at_once(Stored& callable, const tool_call& call) {
        const decision given = std::invoke(callable, call);
        co_return given;
    }

    alignas(void*) std::byte storage_[capacity] = {};
    task<decision> (*ask_)(void*, const tool_call&) = nullptr;
};

static_assert(std::is_trivially_copyable_v<approver> && std::is_trivially_destructible_v<approver>);

/// Lets every call run.
inline decision allow_all(const tool_call&) noexcept {
    return decision::allow;
}
/// Denies every call, saying that the user did.
inline decision deny_all(const tool_call&) noexcept {
    return decision::deny;
}

} // namespace thalweg
