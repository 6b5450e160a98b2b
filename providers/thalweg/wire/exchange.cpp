// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/exchange.hpp>

#include <thalweg/async/loop.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/net/http.hpp>
#include <thalweg/wire/answer_outcome.hpp>

#include <utility>
#include <vector>

namespace thalweg::wire {

namespace {

using namespace std::chrono_literals;

/// How long a server may keep the connection open behind the end of its answer, so that it can be used again.
constexpr auto longest_farewell = 250ms;

task<> stop_after(std::chrono::milliseconds wait, cancel_source* what) {
    co_await sleep_for(wait);
    what->request(cancel_reason::timeout);
}

} // namespace

stream<delta, model_outcome> exchange(std::shared_ptr<const endpoint> at, std::string body,
                                      std::unique_ptr<answer_decoder> decoder) {
    if (at->refusal()) {
        model_outcome refusal = *at->refusal();
        co_return refusal;
    }
    const context here = co_await this_coroutine();
    std::vector<delta> decoded;
    cancel_source patience; // ends the reading when nothing more can change the answer
    patience.follow(here.cancel());
    const context reading(here.loop(), patience);
    scope farewell(here);
    auto events = http::events(http::client::of(here.loop()), at->post(std::move(body)));
    bool more = true;
    while (more) {
        const sse_event* event = co_await events.peek_under(reading);
        more = event != nullptr;
        if (!more) break;
        decoder->event(event->data, event->type, decoded);
        for (delta& each : decoded)
            co_yield std::move(each);
        decoded.clear();
        more = !decoder->is_unreadable();
        if (more && decoder->is_decided() && farewell.empty())
            farewell.spawn(stop_after(longest_farewell, &patience));
    }
    farewell.cancel();
    co_await farewell.join();

    http::events_outcome transport;
    if (events.finished()) transport = std::move(events.result());
    events.reset();
    if (transport.kind == http::outcome_kind::ok) {
        if (!transport.body.empty()) decoder->body(transport.body, decoded);
        decoder->stray_lines(transport.stray, decoded);
    }
    const answer_ending ending = decoder->finish(decoded);
    for (delta& each : decoded)
        co_yield std::move(each);
    model_outcome outcome = answer_outcome(ending, transport, *at, here.loop().wall_ms());
    co_return outcome;
}

} // namespace thalweg::wire
