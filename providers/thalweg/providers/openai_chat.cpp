// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/openai_chat.hpp>

#include <thalweg/async/loop.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/net/http.hpp>
#include <thalweg/net/http_events.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/chat_decoder.hpp>
#include <thalweg/providers/chat_outcome.hpp>
#include <thalweg/providers/chat_request.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace thalweg::providers {

namespace {

using namespace std::chrono_literals;

/// How long a server may keep the connection open behind the end of its answer, so that it can be used again.
constexpr auto longest_farewell = 250ms;

constexpr std::string_view default_host = "https://api.openai.com";

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

std::string with_path(std::string base, std::string_view path) {
    const std::size_t query = std::min(base.find('?'), base.size());
    std::size_t end = query;
    while (end > 0 && base[end - 1] == '/')
        --end;
    return base.replace(end, query - end, path);
}

/// "POST URL" without user, password and query.
std::string label_of(std::string url) {
    url.resize(std::min(url.find_first_of("?#"), url.size()));
    const std::size_t scheme = url.find("://");
    const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
    const std::size_t path = std::min(url.find('/', host), url.size());
    const std::size_t at = url.rfind('@', path);
    if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
    return "POST " + url;
}

std::string key_of(const openai_chat_options& options) {
    if (!options.api_key.empty()) return options.api_key;
    const char* key = std::getenv("OPENAI_API_KEY");
    return key != nullptr ? key : "";
}

task<> stop_after(std::chrono::milliseconds wait, cancel_source* what) {
    co_await sleep_for(wait);
    what->request(cancel_reason::timeout);
}

} // namespace

struct openai_chat::settings {
    openai_chat_options options;
    std::string key;
    std::string label;
    http::request prototype; // without a body
    std::string refusal;     // why no request can be sent; empty if one can
    bool lacks_key = false;

    explicit settings(openai_chat_options given)
        : options(detail::resolved(std::move(given))), key(key_of(options)) {
        prototype.url = with_path(options.base_url, "/chat/completions");
        prototype.timeouts = options.timeouts;
        label = label_of(prototype.url);
        prototype.headers = options.headers;
        add("Content-Type", "application/json");
        if (!key.empty()) add("Authorization", "Bearer " + key);
        if (!options.organization.empty()) add("OpenAI-Organization", options.organization);
        if (!options.project.empty()) add("OpenAI-Project", options.project);
        lacks_key = key.empty() && options.headers.empty() && options.base_url.starts_with(default_host);
        const auto extra = options.extra.empty() ? json::parse("{}") : json::parse(options.extra);
        if (!extra)
            refusal = "option extra is not JSON: " + extra.error().message();
        else if (!extra.value().is_object())
            refusal = "option extra is no JSON object";
        if (options.model.empty() && refusal.empty())
            refusal = "option model is empty: name the model to ask";
    }

private:
    void add(std::string_view name, std::string value) {
        const auto named = [name](const http::header& each) { return same_name(each.name, name); };
        if (std::any_of(prototype.headers.begin(), prototype.headers.end(), named)) return;
        prototype.headers.push_back({std::string(name), std::move(value)});
    }
};

openai_chat::openai_chat(openai_chat_options options)
    : settings_(std::make_shared<const settings>(std::move(options))) {}

stream<delta, model_outcome> openai_chat::generate(model_request request) {
    return run(settings_, std::move(request));
}

stream<delta, model_outcome> openai_chat::run(std::shared_ptr<const settings> with, model_request request) {
    if (!with->refusal.empty()) co_return model_outcome::failed(with->refusal).permanent();
    if (with->lacks_key)
        co_return model_outcome::auth(
            "no API key: set OPENAI_API_KEY (in code also: openai_chat_options::api_key)");
    const context here = co_await this_coroutine();
    http::request outgoing = with->prototype;
    outgoing.body = detail::chat_request_body(with->options, request);

    chat_decoder decoder(with->options.model);
    std::vector<delta> decoded;
    cancel_source patience; // ends the reading when nothing more can change the answer
    patience.follow(here.cancel());
    const context reading(here.loop(), patience);
    scope farewell(here);
    auto events = http::events(http::client::of(here.loop()), std::move(outgoing));
    bool more = true;
    while (more) {
        const sse_event* event = co_await events.peek_under(reading);
        more = event != nullptr;
        if (!more) break;
        decoder.event(event->data, event->type, decoded);
        for (delta& each : decoded)
            co_yield std::move(each);
        decoded.clear();
        more = !decoder.is_unreadable();
        if (more && decoder.is_decided() && farewell.empty())
            farewell.spawn(stop_after(longest_farewell, &patience));
    }
    farewell.cancel();
    co_await farewell.join();

    http::events_outcome transport;
    if (events.finished()) transport = std::move(events.result());
    events.reset();
    if (transport.kind == http::outcome_kind::ok) {
        if (!transport.body.empty()) decoder.body(transport.body, decoded);
        decoder.stray_lines(transport.stray, decoded);
    }
    const chat_ending ending = decoder.finish(decoded);
    for (delta& each : decoded)
        co_yield std::move(each);
    co_return detail::chat_outcome(ending, transport, with->label, with->key, here.loop().wall_ms());
}

} // namespace thalweg::providers
