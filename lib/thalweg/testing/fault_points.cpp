// SPDX-License-Identifier: BSL-1.0

#include <thalweg/testing/fault_points.hpp>

#include <algorithm>
#include <coroutine>
#include <stdexcept>
#include <system_error>

namespace thalweg::testing {

namespace {

constexpr std::array<std::string_view, fault_point_count> point_names{
    "model_begin", "model_delta", "model_outcome", "tool_begin",  "tool_chunk",
    "tool_result", "approval",    "trace_write",   "trace_rotate"};
constexpr std::array<std::string_view, 5> action_names{"none", "fail", "throws", "hang", "deaf"};

} // namespace

std::string_view to_string(fault_point p) noexcept {
    return point_names[static_cast<std::size_t>(p)];
}

std::string_view to_string(fault_action a) noexcept {
    return action_names[static_cast<std::size_t>(a)];
}

std::string describe(const planned_fault& f) {
    return std::string(to_string(f.action)) + " at " + std::string(to_string(f.point)) + ' ' +
           std::to_string(f.pass);
}

fault_action fault_plan::pass(fault_point point) {
    const std::size_t now = ++passes_[static_cast<std::size_t>(point)];
    for (const planned_fault& each : faults_) {
        if (each.point == point && each.pass == now) return each.action;
    }
    return fault_action::none;
}

std::string detail::fault_words(fault_point where) {
    return "planned fault at " + std::string(to_string(where));
}

task<void> detail::suffer(fault_action action, fault_point where) {
    switch (action) {
    case fault_action::none:
    case fault_action::fail: break;
    case fault_action::throws: throw std::runtime_error(fault_words(where));
    case fault_action::hang: co_await stop_requested(); break;
    case fault_action::deaf: co_await std::suspend_always(); break;
    }
}

task<decision> faulty_approver::operator()(const tool_call& call) {
    const fault_action what = plan_->pass(fault_point::approval);
    co_await detail::suffer(what, fault_point::approval);
    if (what != fault_action::none) co_return decision::deny;
    decision given = decision::deny;
    if (inner_) given = co_await inner_(call);
    co_return given;
}

task<result<void>> faulty_sink::write(std::span<const message> messages) {
    const bool is_blank = std::none_of(messages.begin(), messages.end(),
                                       [](const message& m) { return m.is_recordable(); });
    if (is_blank) return inner_->write(messages);
    const bool rotated = std::exchange(is_rotated_, false);
    const fault_point where = rotated ? fault_point::trace_rotate : fault_point::trace_write;
    const fault_action what = plan_->pass(where);
    if (what == fault_action::none) return inner_->write(messages);
    return suffer_and_write(what, where, messages);
}

task<result<void>> faulty_sink::suffer_and_write(fault_action what, fault_point where,
                                                 std::span<const message>) {
    co_await detail::suffer(what, where);
    co_return failure(std::make_error_code(std::errc::io_error), detail::fault_words(where));
}

void faulty_sink::rotate() {
    is_rotated_ = true;
    inner_->rotate();
}

std::size_t sweep(const std::function<void(fault_plan&, const planned_fault&)>& play,
                  std::span<const fault_action> actions, std::size_t most_passes) {
    fault_plan straight;
    play(straight, planned_fault{});
    std::size_t plays = 1;
    for (std::size_t at = 0; at < fault_point_count; ++at) {
        const auto point = static_cast<fault_point>(at);
        const std::size_t passes = std::min(straight.passes(point), most_passes);
        for (std::size_t pass = 1; pass <= passes; ++pass) {
            for (const fault_action action : actions) {
                const planned_fault fault{point, pass, action};
                fault_plan plan;
                plan.at(fault);
                play(plan, fault);
                ++plays;
            }
        }
    }
    return plays;
}

std::size_t sweep(const std::function<void(fault_plan&, const planned_fault&)>& play) {
    constexpr std::array all{fault_action::fail, fault_action::throws, fault_action::hang,
                             fault_action::deaf};
    return sweep(play, all);
}

} // namespace thalweg::testing
