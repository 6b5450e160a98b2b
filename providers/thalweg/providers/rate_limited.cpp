// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/rate_limited.hpp>

#include <thalweg/async/loop.hpp>

#include <algorithm>
#include <cassert>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <stop_token>

namespace thalweg::providers {

namespace detail {

using clock = loop::clock;

/// The line and the memory of what went before. Only the first in the line looks at the limits; whoever
/// leaves it, or gives a slot free, wakes the next first.
class rate_queue {
public:
    explicit rate_queue(rate_limit_options options) : options_(options) {}
    rate_queue(const rate_queue&) = delete;

    class ticket;

    [[nodiscard]] std::size_t waiting() const noexcept { return line_.size(); }
    [[nodiscard]] std::size_t running() const noexcept { return running_; }

    void hold(clock::time_point now, std::chrono::milliseconds wish) {
        const auto wait = std::min(wish, options_.longest_hold);
        if (wait > wait.zero()) held_until_ = std::max(held_until_, now + wait);
    }
    void count_tokens(clock::time_point now, std::int64_t tokens) {
        if (options_.tokens > 0 && tokens > 0) spent_.push_back({now, tokens});
    }

private:
    struct spending {
        clock::time_point when;
        std::int64_t tokens;
    };

    [[nodiscard]] bool has_slot() const noexcept {
        return options_.concurrent == 0 || running_ < options_.concurrent;
    }
    /// When time alone would let the next one go; in the past: now.
    [[nodiscard]] clock::time_point opens(clock::time_point now) {
        clock::time_point when = held_until_;
        while (!begun_.empty() && begun_.front() + options_.per <= now)
            begun_.pop_front();
        if (options_.requests > 0 && begun_.size() >= options_.requests)
            when = std::max(when, begun_[begun_.size() - options_.requests] + options_.per);
        while (!spent_.empty() && spent_.front().when + options_.per <= now)
            spent_.pop_front();
        std::int64_t counted = 0;
        const auto over = std::find_if(spent_.rbegin(), spent_.rend(), [&](const spending& each) {
            return (counted += each.tokens) >= options_.tokens;
        });
        if (over != spent_.rend()) when = std::max(when, over->when + options_.per);
        return when;
    }

    rate_limit_options options_;
    std::list<ticket*> line_;
    std::size_t running_ = 0;
    const loop* used_on_ = nullptr;
    std::deque<clock::time_point> begun_;
    std::deque<spending> spent_;
    clock::time_point held_until_ = clock::time_point::min();
};

/// A request's place in the line, then its slot; gives up whichever it has.
class rate_queue::ticket {
public:
    ticket(rate_queue& of, loop& on) : queue_(of), place_(of.line_.insert(of.line_.end(), this)), loop_(on) {
        if (of.running_ == 0 && of.line_.size() == 1) of.used_on_ = &on;
        assert(of.used_on_ == &on && "a rate_limit and all that share it belong to one loop");
    }
    ticket(const ticket&) = delete;
    ~ticket() { release(); }

    /// Takes the slot if it is this request's turn.
    [[nodiscard]] bool take(clock::time_point now) {
        if (!is_first() || !queue_.has_slot() || queue_.opens(now) > now) return false;
        state_ = state::running;
        ++queue_.running_;
        if (queue_.options_.requests > 0) queue_.begun_.push_back(now);
        leave_line();
        return true;
    }

    void release() noexcept {
        const state was = std::exchange(state_, state::gone);
        if (was == state::waiting) {
            leave_line();
        } else if (was == state::running) {
            --queue_.running_;
            wake_first();
        }
    }

    /// Suspends until take() may give another answer: something changed, time has come, or a stop request.
    class change_awaiter {
    public:
        explicit change_awaiter(ticket& mine) noexcept : ticket_(mine) {}
        change_awaiter(const change_awaiter&) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) {
            const context& ctx = *self.promise().ctx;
            if (ctx.stop_requested()) return false;
            ticket_.sleeper_ = &self.promise().ready;
            if (ticket_.is_first() && ticket_.queue_.has_slot()) {
                timer_.wakes = ticket_.sleeper_;
                ctx.loop().arm(timer_, ticket_.queue_.opens(ctx.loop().now()));
            }
            on_stop_.emplace(ctx.stop_token(), wake_up{&ticket_});
            return true;
        }
        void await_resume() noexcept {
            on_stop_.reset();
            timer_.cancel();
            ticket_.sleeper_ = nullptr;
        }

    private:
        struct wake_up {
            ticket* sleeping;
            void operator()() const noexcept { sleeping->wake(); }
        };
        ticket& ticket_;
        thalweg::detail::timer_node timer_;
        std::optional<std::stop_callback<wake_up>> on_stop_;
    };
    [[nodiscard]] change_awaiter change() noexcept { return change_awaiter(*this); }

private:
    friend class rate_queue;
    enum class state : std::uint8_t { waiting, running, gone };

    [[nodiscard]] bool is_first() const noexcept { return queue_.line_.front() == this; }
    void wake() noexcept {
        if (sleeper_ != nullptr) loop_.schedule(*sleeper_);
    }
    void wake_first() noexcept {
        if (!queue_.line_.empty()) queue_.line_.front()->wake();
    }
    void leave_line() noexcept {
        queue_.line_.erase(place_);
        wake_first();
    }

    rate_queue& queue_;
    std::list<ticket*>::iterator place_;
    loop& loop_;
    state state_ = state::waiting;
    thalweg::detail::ready_node* sleeper_ = nullptr; // nullptr: nobody waits in change()
};

stream<delta, model_outcome> in_turn(std::shared_ptr<rate_queue> line, provider_ref inner,
                                     model_request request) {
    const context here = co_await this_coroutine();
    rate_queue::ticket ticket(*line, here.loop());
    while (!ticket.take(here.loop().now())) {
        co_await ticket.change();
        if (here.stop_requested()) co_return model_outcome::aborted();
    }
    std::int64_t tokens = 0;
    auto answer = inner.generate(std::move(request));
    while (delta* piece = co_await answer.peek()) {
        if (piece->kind() == delta::type::usage) tokens = piece->counts().total;
        co_yield std::move(*piece);
    }
    model_outcome outcome = std::move(answer.result());
    const auto now = here.loop().now();
    if (outcome.usage()) tokens = std::max(tokens, outcome.usage()->total);
    line->count_tokens(now, tokens);
    if (outcome.wait()) line->hold(now, *outcome.wait());
    ticket.release();
    co_return std::move(outcome);
}

} // namespace detail

rate_limit::rate_limit(rate_limit_options options) : line_(std::make_shared<detail::rate_queue>(options)) {}

std::size_t rate_limit::waiting() const noexcept {
    return line_->waiting();
}

std::size_t rate_limit::running() const noexcept {
    return line_->running();
}

} // namespace thalweg::providers
