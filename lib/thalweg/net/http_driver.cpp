// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/http_driver.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace thalweg::http::detail {

namespace {

void initialize_curl() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

} // namespace

// A socket of curl's on the reactor. Handlers keep it alive and look whether somebody still wants them.
struct driver::watch {
    watch(asio::io_context& io, driver& by) : descriptor(io), owner(&by) {}

    asio::posix::stream_descriptor descriptor;
    driver* owner;
    int wanted = 0; // CURL_POLL_IN, CURL_POLL_OUT
    bool reading = false;
    bool writing = false;

    // The socket stays open: it is curl's.
    void let_go() noexcept {
        owner = nullptr;
        if (descriptor.is_open()) descriptor.release();
    }
};

driver::driver(asio::io_context& io) : io_(io), timer_(io) {
    initialize_curl();
    multi_.reset(curl_multi_init());
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &driver::on_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &driver::on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

driver::~driver() {
    close();
}

void driver::close() noexcept {
    while (!transfers_.empty())
        transfers_.back()->orphaned();
    if (!multi_) return;
    // Closing cached connections would call back into what is going away.
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
    for (auto& [socket, what] : watches_)
        what->let_go();
    watches_.clear();
    timer_.cancel();
    multi_.reset();
}

// Transfers -------------------------------------------------------------------------------------------

void driver::add(transfer& what) {
    const auto now = clock::now();
    transfers_.push_back(&what);
    what.attached(*this, now);
    if (curl_multi_add_handle(multi_.get(), what.handle()) != CURLM_OK)
        return what.complete(CURLE_FAILED_INIT);
    if (const auto limit = what.next_limit()) note_limit(limit->at);
    post_step();
}

void driver::remove(transfer& what) noexcept {
    curl_multi_remove_handle(multi_.get(), what.handle());
    forget(what);
}

void driver::forget(transfer& what) noexcept {
    std::erase(to_resume_, &what);
    const auto found = std::find(transfers_.begin(), transfers_.end(), &what);
    if (found == transfers_.end()) return;
    *found = transfers_.back();
    transfers_.pop_back();
}

void driver::resume(transfer& what) {
    if (std::find(to_resume_.begin(), to_resume_.end(), &what) == to_resume_.end())
        to_resume_.push_back(&what);
    post_step();
}

void driver::note_limit(clock::time_point at) noexcept {
    if (!limit_due_ || at < *limit_due_) limit_due_ = at;
}

// What curl asks for ----------------------------------------------------------------------------------

int driver::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept {
    static_cast<driver*>(self)->watch_socket(socket, what);
    return 0;
}

int driver::on_timer(CURLM*, long milliseconds, void* self) noexcept {
    auto& due = static_cast<driver*>(self)->curl_due_;
    if (milliseconds < 0)
        due.reset();
    else
        due = clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
}

void driver::watch_socket(curl_socket_t socket, int what) {
    const auto found = watches_.find(socket);
    if (what == CURL_POLL_REMOVE) {
        if (found == watches_.end()) return;
        found->second->let_go();
        watches_.erase(found);
        return;
    }
    auto watched = found != watches_.end() ? found->second : nullptr;
    if (!watched) {
        watched = std::make_shared<watch>(io_, *this);
        std::error_code failed;
        watched->descriptor.assign(socket, failed);
        if (failed) return; // curl's own timer will find the socket dead
        watches_.emplace(socket, watched);
    }
    watched->wanted = what;
    arm(watched);
}

void driver::arm(const std::shared_ptr<watch>& what) {
    if ((what->wanted & CURL_POLL_IN) != 0) arm(what, CURL_CSELECT_IN, what->reading);
    if ((what->wanted & CURL_POLL_OUT) != 0) arm(what, CURL_CSELECT_OUT, what->writing);
}

void driver::arm(const std::shared_ptr<watch>& what, int direction, bool& armed) {
    if (std::exchange(armed, true)) return;
    const auto wait = direction == CURL_CSELECT_IN ? asio::posix::stream_descriptor::wait_read
                                                   : asio::posix::stream_descriptor::wait_write;
    what->descriptor.async_wait(wait, [what, direction, &armed](std::error_code) {
        armed = false;
        if (what->owner == nullptr) return;
        const auto socket = what->descriptor.native_handle();
        what->owner->socket_ready(socket, direction);
        if (what->owner != nullptr) what->owner->arm(what);
    });
}

// Turns -----------------------------------------------------------------------------------------------

void driver::socket_ready(curl_socket_t socket, int direction) {
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, direction, &running);
    settle();
}

void driver::post_step() {
    if (std::exchange(step_posted_, true)) return;
    asio::post(io_, [self = weak_from_this()] {
        if (const auto alive = self.lock()) alive->step();
    });
}

void driver::step() {
    step_posted_ = false;
    if (!multi_) return;
    while (!to_resume_.empty()) {
        transfer& what = *to_resume_.back();
        to_resume_.pop_back();
        what.unpaused();
        curl_easy_pause(what.handle(), CURLPAUSE_CONT); // brings bytes, and may pause again
        if (const auto limit = what.next_limit()) note_limit(limit->at);
    }
    curl_due_.reset(); // curl asks anew for what is still to come
    int running = 0;
    curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
    settle();
}

void driver::settle() {
    collect_finished();
    if (curl_due_ && *curl_due_ <= clock::now())
        post_step();
    else
        set_timer();
}

void driver::collect_finished() {
    int left = 0;
    while (const CURLMsg* news = curl_multi_info_read(multi_.get(), &left)) {
        if (news->msg != CURLMSG_DONE) continue;
        const CURLcode code = news->data.result;
        transfer* finished = nullptr;
        curl_easy_getinfo(news->easy_handle, CURLINFO_PRIVATE, &finished);
        finished->complete(code);
    }
}

// Time ------------------------------------------------------------------------------------------------

// Keeps one timer at the earlier of curl's and our own next moment. A moment that has moved away is left to
// fire early once: that is cheaper than setting the timer for every byte that arrives.
void driver::set_timer() {
    auto next = curl_due_;
    if (limit_due_ && (!next || *limit_due_ < *next)) next = limit_due_;
    if (!next || (timer_at_ && *timer_at_ <= *next)) return;
    timer_at_ = next;
    timer_.expires_at(*next);
    timer_.async_wait([self = weak_from_this()](std::error_code failed) {
        if (failed) return;
        if (const auto alive = self.lock()) alive->timer_fired();
    });
}

void driver::timer_fired() {
    timer_at_.reset();
    if (!multi_) return;
    if (limit_due_ && *limit_due_ <= clock::now()) check_limits();
    step();
}

// A byte that lay in its socket while the loop was busy is no silence: Asio reports sockets before timers, so
// it has been heard by now.
void driver::check_limits() {
    limit_due_.reset();
    const auto now = clock::now();
    const auto watched = transfers_;
    for (transfer* each : watched) {
        const auto limit = each->next_limit();
        if (!limit) continue;
        if (limit->at <= now)
            each->expire(limit->which);
        else
            note_limit(limit->at);
    }
}

} // namespace thalweg::http::detail
