// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/fallback.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::providers::detail {

namespace {

/// The outcomes of those that have failed so far.
class failures {
public:
    void add(model_outcome outcome) {
        if (outcome.usage()) {
            if (!usage_) usage_.emplace();
            *usage_ += *outcome.usage();
        }
        all_.push_back(std::move(outcome));
    }

    /// `ending` with what the others have used before it.
    [[nodiscard]] model_outcome with_usage_before(model_outcome ending) const {
        if (!usage_) return ending;
        token_counts sum = *usage_;
        if (ending.usage()) sum += *ending.usage();
        return std::move(ending).with_usage(sum);
    }

    /// What becomes of the request when nobody is left.
    [[nodiscard]] model_outcome together() {
        if (all_.size() == 1) return std::move(all_.front());
        model_outcome made = of_status();
        const auto hopeless = [](const model_outcome& each) { return is_hopeless(each); };
        const auto too_long = [](const model_outcome& each) { return each.is_context_too_long(); };
        if (std::all_of(all_.begin(), all_.end(), hopeless)) {
            made = std::move(made).permanent();
            if (std::any_of(all_.begin(), all_.end(), too_long)) made = std::move(made).context_too_long();
        }
        if (const auto wish = shortest_wait()) made = std::move(made).with_wait(*wish);
        if (usage_) made = std::move(made).with_usage(*usage_);
        return made;
    }

private:
    [[nodiscard]] static bool is_hopeless(const model_outcome& one) {
        return one.is_permanent() || one.status() == stop_reason::auth;
    }

    [[nodiscard]] model_outcome of_status() const {
        const stop_reason first = all_.front().status();
        const bool agree = std::all_of(all_.begin(), all_.end(),
                                       [&](const model_outcome& each) { return each.status() == first; });
        if (agree && first == stop_reason::auth) return model_outcome::auth(sentence());
        if (agree && first == stop_reason::timeout) return model_outcome::timeout(sentence());
        if (agree && first == stop_reason::malformed) return model_outcome::malformed(sentence());
        return model_outcome::failed(sentence());
    }

    [[nodiscard]] std::string sentence() const {
        std::string all = "none of " + std::to_string(all_.size()) + " providers answered";
        for (std::size_t n = 0; n < all_.size(); ++n) {
            const std::string& cause = all_[n].message();
            all += (n == 0 ? ": (" : "; (") + std::to_string(n + 1) + ") ";
            all += to_string(all_[n].status());
            if (!cause.empty()) all += ": " + cause;
        }
        return all;
    }

    [[nodiscard]] std::optional<std::chrono::milliseconds> shortest_wait() const {
        std::optional<std::chrono::milliseconds> shortest;
        for (const model_outcome& each : all_) {
            if (is_hopeless(each)) continue;
            if (!each.wait()) return std::nullopt;
            shortest = shortest ? std::min(*shortest, *each.wait()) : *each.wait();
        }
        return shortest;
    }

    std::vector<model_outcome> all_;
    std::optional<token_counts> usage_;
};

model_outcome thrown(std::string_view what) {
    return model_outcome::failed("the provider threw: " + std::string(what));
}

/// A sentence if the listener threw.
std::optional<std::string> announce(const switch_listener& listener, const provider_switch& what) {
    if (!listener) return std::nullopt;
    try {
        listener(what);
        return std::nullopt;
    } catch (const std::exception& e) {
        return "the listener of the switch to another provider threw: " + std::string(e.what());
    } catch (...) {
        return "the listener of the switch to another provider threw something that is no std::exception";
    }
}

} // namespace

stream<delta, model_outcome> first_answer(provider_row& row, model_request request) {
    const context here = co_await this_coroutine();
    failures so_far;
    for (std::size_t at = 0;; ++at) {
        bool has_begun = false;
        // A statement about tokens is no answer yet: it may be one of a request that fails.
        std::optional<token_counts> held;
        std::optional<model_outcome> outcome;
        try {
            auto answer = row.ask(at, request);
            while (delta* piece = co_await answer.peek()) {
                if (!has_begun && piece->kind() == delta::type::usage) {
                    held = piece->counts();
                    continue;
                }
                has_begun = true;
                if (held) co_yield delta::usage(*std::exchange(held, std::nullopt));
                co_yield std::move(*piece);
            }
            outcome.emplace(std::move(answer.result()));
        } catch (const std::exception& e) {
            outcome.emplace(thrown(e.what()));
        } catch (...) {
            outcome.emplace(thrown("something that is no std::exception"));
        }
        const bool is_over = outcome->status() == stop_reason::completed ||
                             outcome->status() == stop_reason::aborted;
        if (held && is_over) co_yield delta::usage(*held);
        if (has_begun || is_over) co_return so_far.with_usage_before(std::move(*outcome));
        if (held && !outcome->usage()) outcome = std::move(*outcome).with_usage(*held);
        if (here.stop_requested()) {
            so_far.add(std::move(*outcome));
            co_return so_far.with_usage_before(model_outcome::aborted());
        }
        so_far.add(*outcome);
        if (at + 1 == row.size()) co_return so_far.together();
        const provider_switch what{at, at + 1, &*outcome};
        auto complaint = announce(row.on_switch, what);
        if (complaint) {
            auto refused = model_outcome::failed(std::move(*complaint)).permanent();
            co_return so_far.with_usage_before(std::move(refused));
        }
    }
}

} // namespace thalweg::providers::detail
