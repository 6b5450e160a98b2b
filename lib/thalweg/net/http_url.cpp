// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/http_url.hpp>

#include <curl/curl.h>

#include <memory>

namespace thalweg::http::detail {

namespace {

struct free_url {
    void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct free_text {
    void operator()(char* text) const noexcept { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart part) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
    const std::unique_ptr<char, free_text> owned(text);
    return text;
}

constexpr std::string_view how_to_write = "; write it as http://HOST[:PORT]/PATH or https://HOST/PATH";

bool is_token(std::string_view text) {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    if (text.empty()) return false;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && others.find(c) == std::string_view::npos) return false;
    }
    return true;
}

} // namespace

std::string public_url(const std::string& url, std::string& complaint) {
    const std::unique_ptr<CURLU, free_url> parsed(curl_url());
    const auto code = url.find('\0') == std::string::npos
                          ? curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME)
                          : CURLUE_MALFORMED_INPUT;
    if (code != CURLUE_OK) {
        complaint.assign("the URL is not valid (")
            .append(curl_url_strerror(code))
            .append(")")
            .append(how_to_write);
        return {};
    }
    const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") {
        complaint.assign("the URL is neither http nor https").append(how_to_write);
        return {};
    }
    auto shown = scheme + "://" + part_of(parsed.get(), CURLUPART_HOST);
    if (const auto port = part_of(parsed.get(), CURLUPART_PORT); !port.empty()) shown += ":" + port;
    shown += part_of(parsed.get(), CURLUPART_PATH);
    if (!part_of(parsed.get(), CURLUPART_QUERY).empty()) shown += "?\xE2\x80\xA6";
    return shown;
}

std::string request_complaint(const request& what) {
    if (!is_token(what.method)) return "the request method is not a word";
    for (const auto& each : what.headers) {
        if (!is_token(each.name)) return "a header has a name that is not a word";
        if (each.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
            return "the value of the header " + each.name + " holds a line break or a NUL";
    }
    return {};
}

} // namespace thalweg::http::detail
