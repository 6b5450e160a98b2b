// SPDX-License-Identifier: BSL-1.0

#pragma once

// Small helpers to look at what a run gave.

#include <thalweg/async/stream.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/complaints.hpp>

#include <concepts>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::testing {

namespace detail {

inline void check_run(std::span<const message> run) {
    // A child of an earlier run is not announced again, and that run may have been read by anybody.
    stream_checker checker(stream_checker::children::may_be_known);
    for (const message& m : run) {
        if (!m.is_fact()) checker.feed(m);
    }
    checker.finish();
    if (!checker.ok()) complain(checker.report());
}

} // namespace detail

/// A stream read to its end: the items and the result.
template <class T, class R>
class collected {
public:
    collected(std::vector<T> all, R result) : items(std::move(all)), result(std::move(result)) {}
    std::vector<T> items;
    R result;

    operator std::span<const T>() const noexcept { return items; }
    [[nodiscard]] auto begin() const noexcept { return items.begin(); }
    [[nodiscard]] auto end() const noexcept { return items.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return items.size(); }
};

/// Reads `s` to its end. The stream of a run is read with the stream checker, which complains
/// (complaints.hpp).
template <class T, class R>
[[nodiscard]] task<collected<T, R>> collect(stream<T, R> s) {
    std::vector<T> items;
    while (auto item = co_await s.next())
        items.push_back(std::move(*item));
    if constexpr (std::same_as<T, message> && !std::same_as<R, compaction_outcome>) detail::check_run(items);
    R result = std::move(s.result());
    collected<T, R> all(std::move(items), std::move(result));
    co_return all;
}

/// A list of call ids that compares and prints well.
class ids {
public:
    ids(std::initializer_list<std::string_view> list) : list_(list.begin(), list.end()) {}
    explicit ids(std::vector<std::string> list) : list_(std::move(list)) {}
    friend bool operator==(const ids&, const ids&) = default;
    friend std::ostream& operator<<(std::ostream& out, const ids& all) {
        out << '{';
        for (const std::string& each : all.list_)
            out << ' ' << each;
        return out << " }";
    }

private:
    std::vector<std::string> list_;
};

/// The complete messages of one kind, in order.
[[nodiscard]] inline std::vector<message> of_kind(std::span<const message> messages, kind wanted) {
    std::vector<message> found;
    for (const message& m : messages) {
        if (m.kind() == wanted) found.push_back(m);
    }
    return found;
}
[[nodiscard]] inline std::vector<message> outputs(std::span<const message> messages) {
    return of_kind(messages, kind::tool_call_output);
}
/// The call ids of the complete calls, outputs and decisions among `messages`, in order.
[[nodiscard]] inline ids call_ids(std::span<const message> messages) {
    std::vector<std::string> found;
    for (const message& m : messages) {
        if (!m.is_partial() && !m.tool_call_id().empty()) found.push_back(m.tool_call_id().str());
    }
    return ids(std::move(found));
}

} // namespace thalweg::testing
