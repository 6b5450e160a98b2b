// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/endpoint.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace thalweg::wire {

namespace {

constexpr std::size_t shortest_secret = 4; // a shorter one is no key, and would tear words apart

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
    const bool two_queries = query < base.size() && path.find('?') != std::string_view::npos;
    if (two_queries) base[query] = '&';
    return base.replace(end, query - end, path);
}

std::string label_of(std::string url) {
    url.resize(std::min(url.find_first_of("?#"), url.size()));
    const std::size_t scheme = url.find("://");
    const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
    const std::size_t path = std::min(url.find('/', host), url.size());
    const std::size_t at = url.rfind('@', path);
    if (at != std::string::npos && at >= host) url.erase(host, at + 1 - host);
    return url;
}

/// "Bearer KEY" is as secret as KEY alone, and a server may repeat either.
std::string secret_part(std::string_view value) {
    const auto blank = value.rfind(' ');
    return std::string(blank == std::string_view::npos ? value : value.substr(blank + 1));
}

} // namespace

endpoint::endpoint(std::string base_url, std::string_view path, std::vector<http::header> headers,
                   http::timeouts timeouts) {
    prototype_.url = with_path(std::move(base_url), path);
    prototype_.timeouts = timeouts;
    prototype_.headers = std::move(headers);
    label_ = "POST " + label_of(prototype_.url);
    for (const http::header& each : prototype_.headers)
        secrets_.push_back(secret_part(each.value));
}

bool endpoint::has_own_header(std::string_view name) const {
    return std::any_of(prototype_.headers.begin(), prototype_.headers.end(),
                       [name](const http::header& each) { return same_name(each.name, name); });
}

void endpoint::add_header(std::string_view name, std::string value) {
    if (!has_own_header(name)) prototype_.headers.push_back({std::string(name), std::move(value)});
}

void endpoint::add_secret(std::string_view name, std::string_view prefix, std::string secret) {
    add_header(name, std::string(prefix) + secret);
    secrets_.push_back(std::move(secret));
}

void endpoint::refuse(model_outcome why) {
    if (!refusal_) refusal_ = std::move(why);
}

void endpoint::refuse(std::string sentence) {
    if (!sentence.empty()) refuse(model_outcome::failed(std::move(sentence)).permanent());
}

http::request endpoint::post(std::string body) const {
    http::request made = prototype_;
    const auto is_type = [](const http::header& each) { return same_name(each.name, "content-type"); };
    if (std::none_of(made.headers.begin(), made.headers.end(), is_type))
        made.headers.push_back({"Content-Type", "application/json"});
    made.body = std::move(body);
    return made;
}

http::request endpoint::get() const {
    http::request made = prototype_;
    made.method = "GET";
    return made;
}

std::string endpoint::without_secrets(std::string message) const {
    for (const std::string& secret : secrets_) {
        if (secret.size() < shortest_secret) continue;
        for (auto at = message.find(secret); at != std::string::npos; at = message.find(secret, at))
            message.replace(at, secret.size(), "[key]");
    }
    return message;
}

std::string from_environment(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
    return {};
}

} // namespace thalweg::wire
