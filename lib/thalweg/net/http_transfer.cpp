// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/http_transfer.hpp>

#include <thalweg/net/http_driver.hpp>
#include <thalweg/net/http_url.hpp>
#include <thalweg/net/padded.hpp>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <sys/socket.h>
#include <utility>

namespace thalweg::http::detail {

namespace {

constexpr std::chrono::milliseconds no_limit = std::chrono::hours(24 * 7);

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

const char* from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// Codes that say "the other side does not speak what it promised". All others are faults of the way to it.
bool is_malformed(CURLcode code) {
    switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: // an answer without status line; foreign schemes were refused before
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR: return true;
    default: return false;
    }
}

// A child process (a tool's command, say) must not hold connections open.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

} // namespace

transfer::transfer(request what) : request_(std::move(what)) {
    std::string complaint = request_complaint(request_);
    std::string shown;
    if (complaint.empty()) shown = public_url(request_.url, complaint);
    label_ = shown.empty() ? std::string("HTTP request") : request_.method + " " + shown;
    if (!complaint.empty()) {
        end(outcome_kind::rejected, complaint);
        return;
    }
    easy_.reset(curl_easy_init());
    if (!easy_) {
        end(outcome_kind::transport, "curl has no memory for another request");
        return;
    }
    set_up();
    set_up_method();
    set_up_headers();
}

transfer::~transfer() {
    if (driver_ != nullptr) driver_->remove(*this);
}

void transfer::set_up() {
    CURL* easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, curl_text_.data());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); // leaving must not wait for a name lookup
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &transfer::on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &transfer::on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());

    const auto connect = request_.timeouts.connect;
    const auto limit = connect.count() > 0 ? std::min(connect, no_limit) : no_limit; // curl's zero is 300 s
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit.count()));

    const char* bundle = from_environment("CURL_CA_BUNDLE");
    if (bundle == nullptr) bundle = from_environment("SSL_CERT_FILE");
    if (bundle != nullptr) curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
    if (const char* folder = from_environment("SSL_CERT_DIR")) curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
}

void transfer::set_up_method() {
    CURL* easy = easy_.get();
    const auto& method = request_.method;
    if (method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    if (method == "POST" || !request_.body.empty()) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
    }
    if (method != "POST") curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
}

void transfer::set_up_headers() {
    const auto add = [this](const std::string& line) {
        curl_slist* first = curl_slist_append(header_list_.get(), line.c_str());
        if (!header_list_) header_list_.reset(first);
    };
    bool names_agent = false;
    for (const auto& each : request_.headers) {
        names_agent = names_agent || lower_case(each.name) == "user-agent";
        add(each.value.empty() ? each.name + ";" : each.name + ": " + each.value);
    }
    if (!names_agent) add("User-Agent: thalweg");
    add("Expect:"); // no waiting for "100 Continue"
    curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, header_list_.get());
}

// The answer ------------------------------------------------------------------------------------------

std::size_t transfer::on_header(char* line, std::size_t size, std::size_t count, void* self) noexcept {
    auto& on = *static_cast<transfer*>(self);
    on.note_activity();
    return on.take_header({line, size * count}) ? size * count : 0;
}

bool transfer::take_header(std::string_view line) {
    if (head_done_) return true; // trailers
    head_bytes_ += line.size();
    head_too_large_ = head_bytes_ > most_head;
    if (head_too_large_) return false;
    auto& head = outcome_.head;
    if (line.starts_with("HTTP/")) {
        head = {};
        const auto blank = std::min(line.find(' '), line.size());
        const auto digits = trim(line.substr(blank)).substr(0, 3);
        std::from_chars(digits.data(), digits.data() + digits.size(), head.status);
    } else if (!trim(line).empty()) {
        take_header_field(line);
    } else if (head.status >= 200) {
        head_done_ = true;
        if (waiting_for_head_) wake();
    }
    return true;
}

void transfer::take_header_field(std::string_view line) {
    auto& headers = outcome_.head.headers;
    if (line.front() == ' ' || line.front() == '\t') { // the old folding of long lines
        if (!headers.empty()) headers.back().value.append(" ").append(trim(line));
        return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    headers.push_back({lower_case(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1)))});
}

std::size_t transfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) noexcept {
    auto& on = *static_cast<transfer*>(self);
    if (on.incoming_.size() >= most_waiting) {
        on.paused_ = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    on.note_activity();
    thalweg::detail::append_padded(on.incoming_, {bytes, size * count});
    on.wake();
    return size * count;
}

void transfer::note_activity() noexcept {
    last_heard_ = clock::now();
    if (std::exchange(heard_, true)) return;
    if (const auto limit = next_limit()) driver_->note_limit(limit->at);
}

// The reader ------------------------------------------------------------------------------------------

void transfer::wait(loop& on, thalweg::detail::ready_node& node, bool for_head) noexcept {
    assert(waiting_ == nullptr && "an exchange has one reader at a time");
    waiting_on_ = &on;
    waiting_ = &node;
    waiting_for_head_ = for_head;
}

void transfer::wake() noexcept {
    if (waiting_ != nullptr) waiting_on_->schedule(*waiting_);
}

std::string_view transfer::take_bytes() {
    reading_.clear();
    reading_.swap(incoming_);
    if (paused_ && driver_ != nullptr) driver_->resume(*this);
    return reading_;
}

void transfer::cancel(cancel_reason why) {
    if (ended_) return;
    incoming_.clear();
    end(outcome_kind::cancelled, std::string("cancelled (") + to_string(why) + ")");
}

// The end ---------------------------------------------------------------------------------------------

void transfer::attached(driver& to, clock::time_point now) noexcept {
    driver_ = &to;
    started_ = last_heard_ = now;
}

std::optional<transfer::limit> transfer::next_limit() const noexcept {
    const auto& limits = request_.timeouts;
    std::optional<limit> first;
    const auto consider = [&first](clock::time_point from, std::chrono::milliseconds length,
                                   timeout_kind which) {
        if (length.count() <= 0 || length > no_limit) return;
        if (!first || from + length < first->at) first = limit{from + length, which};
    };
    consider(started_, limits.total, timeout_kind::total);
    if (!heard_)
        consider(started_, limits.first_byte, timeout_kind::first_byte);
    else if (!paused_)
        consider(last_heard_, limits.idle, timeout_kind::idle);
    return first;
}

void transfer::expire(timeout_kind which) {
    const auto& limits = request_.timeouts;
    const auto ms = [](std::chrono::milliseconds length) { return std::to_string(length.count()) + " ms"; };
    outcome_.timed_out = which;
    switch (which) {
    case timeout_kind::first_byte:
        return end(outcome_kind::timeout,
                   "no answer within " + ms(limits.first_byte) + " of sending the request");
    case timeout_kind::idle:
        return end(outcome_kind::timeout, "the answer stopped: nothing came for " + ms(limits.idle));
    default: return end(outcome_kind::timeout, "not finished within " + ms(limits.total));
    }
}

void transfer::orphaned() {
    incoming_.clear();
    end(outcome_kind::cancelled, "cancelled: the HTTP client was destroyed");
}

void transfer::complete(CURLcode code) {
    const int status = outcome_.head.status;
    if (code == CURLE_OK && status >= 200 && status < 300) return end(outcome_kind::ok, {});
    if (code == CURLE_OK) {
        std::string why = "HTTP status " + std::to_string(status);
        const auto location = outcome_.head.find("location");
        if (status >= 300 && status < 400 && location) {
            std::string complaint;
            const auto target = public_url(std::string(*location), complaint);
            why += ": the server points elsewhere" + (target.empty() ? "" : ", to " + target) +
                   "; redirects are not followed, correct the base URL";
        }
        return end(outcome_kind::http_error, why);
    }
    if (code == CURLE_OPERATION_TIMEDOUT) { // the only limit that curl keeps for us
        outcome_.timed_out = timeout_kind::connect;
        return end(outcome_kind::timeout, curl_cause(code));
    }
    if (head_too_large_)
        return end(outcome_kind::malformed,
                   "the headers of the answer exceed " + std::to_string(most_head) + " bytes");
    if (code == CURLE_URL_MALFORMAT) return end(outcome_kind::rejected, curl_cause(code));
    if (is_malformed(code)) return end(outcome_kind::malformed, curl_cause(code));
    end(outcome_kind::transport, curl_cause(code));
}

std::string transfer::curl_cause(CURLcode code) const {
    if (code == CURLE_COULDNT_RESOLVE_PROXY) // curl quotes the setting, which may hold a password
        return "the proxy of the environment is not valid or has no address (http_proxy, https_proxy, "
               "all_proxy)";
    std::string text(trim(curl_text_.data()));
    const std::string general = curl_easy_strerror(code);
    if (text.empty())
        text = general;
    else if (text.find(general) == std::string::npos)
        text += ": " + general;
    text += " (curl " + std::to_string(static_cast<int>(code));
    long os_code = 0;
    if (curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_code) == CURLE_OK && os_code != 0)
        text += ", " + std::generic_category().message(static_cast<int>(os_code));
    text += ")";
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        text += "; CURL_CA_BUNDLE or SSL_CERT_FILE names other certificate authorities";
    return text;
}

void transfer::end(outcome_kind kind, std::string_view why) {
    if (std::exchange(ended_, true)) return;
    outcome_.kind = kind;
    if (kind != outcome_kind::ok) outcome_.message.assign(label_).append(": ").append(why);
    if (driver_ != nullptr) std::exchange(driver_, nullptr)->remove(*this);
    wake();
}

} // namespace thalweg::http::detail
