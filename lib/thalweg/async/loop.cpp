// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/loop.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace thalweg {

namespace {

using namespace std::chrono_literals;

constexpr int looks_per_drain = 16;
constexpr auto patience = 3us; // about what it costs to wake a thread
constexpr auto breath = 1us;   // some twenty items

bool earlier(const detail::timer_node& a, const detail::timer_node& b) noexcept {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
}

/// A binary heap whose entries know their place, so that a wait is taken back in logarithmic time.
class timer_heap {
public:
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] detail::timer_node& first() const noexcept { return *entries_.front(); }

    void insert(detail::timer_node& node) {
        node.at = entries_.size();
        entries_.push_back(&node);
        sift_up(node.at);
    }
    void erase(detail::timer_node& node) noexcept {
        const std::size_t hole = std::exchange(node.at, detail::timer_node::idle);
        detail::timer_node* last = entries_.back();
        entries_.pop_back();
        if (last == &node) return;
        put(hole, last);
        sift_up(hole);
        sift_down(last->at);
    }

private:
    void put(std::size_t at, detail::timer_node* node) noexcept {
        entries_[at] = node;
        node->at = at;
    }
    void sift_up(std::size_t at) noexcept {
        while (at > 0) {
            const std::size_t parent = (at - 1) / 2;
            if (!earlier(*entries_[at], *entries_[parent])) return;
            exchange(at, parent);
            at = parent;
        }
    }
    void sift_down(std::size_t at) noexcept {
        for (;;) {
            std::size_t least = at;
            for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
                if (child < entries_.size() && earlier(*entries_[child], *entries_[least])) least = child;
            }
            if (least == at) return;
            exchange(at, least);
            at = least;
        }
    }
    void exchange(std::size_t a, std::size_t b) noexcept {
        detail::timer_node* moved = entries_[a];
        put(a, entries_[b]);
        put(b, moved);
    }

    std::vector<detail::timer_node*> entries_;
};

/// Finds the loop of an io_context, and owns it where nobody else does.
class loop_service final : public asio::execution_context::service {
public:
    using key_type = loop_service;
    static inline asio::execution_context::id id;

    explicit loop_service(asio::execution_context& owner) : service(owner) {}
    static loop_service& of(asio::io_context& io) {
        return asio::use_service<loop_service>(static_cast<asio::execution_context&>(io));
    }

    loop* found = nullptr;
    std::unique_ptr<loop> own;

private:
    void shutdown() noexcept override { own.reset(); }
};

} // namespace

void detail::timer_node::cancel() noexcept {
    if (is_armed()) owner->disarm(*this);
}

struct loop::parts {
    explicit parts(std::unique_ptr<asio::io_context> mine, asio::io_context& io)
        : own(std::move(mine)), executor(io.get_executor()), alarm(io), service(loop_service::of(io)) {}

    std::unique_ptr<asio::io_context> own;
    asio::io_context::executor_type executor;
    asio::steady_timer alarm;
    std::optional<loop::clock::time_point> alarm_at;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    timer_heap timers;
    std::uint64_t armed = 0;
    std::list<std::unique_ptr<detail::loop_tenant>> tenants;
    loop_service& service;
};

loop::loop() : loop(*new asio::io_context(1), owned::yes) {}

loop::loop(asio::io_context& io) : loop(io, owned::no) {}

loop::loop(virtual_time_tag) : loop() {
    virtual_time_ = true;
}

loop::loop(asio::io_context& io, owned is_mine)
    : alive_(std::make_shared<loop*>(this)),
      parts_(std::make_unique<parts>(std::unique_ptr<asio::io_context>(is_mine == owned::yes ? &io : nullptr),
                                     io)),
      io_(&io),
      root_(*this, cancel_) {
    ready_.next = ready_.previous = &ready_;
    if (parts_->service.found == nullptr) parts_->service.found = this;
}

loop::~loop() {
    closing_ = true;
    parts_->tenants.clear();
    for (detail::inlet_link* ring : {&looked_at_, &at_rest_}) {
        while (ring->next != ring)
            static_cast<detail::inlet*>(ring->next)->forget();
    }
    *alive_ = nullptr;
    if (parts_->service.found == this) parts_->service.found = nullptr;
    while (ready_.next != &ready_)
        ready_.next->unlink();
    ready_.next = ready_.previous = nullptr;
    parts_.reset();
    detail::frame_pool::trim();
}

loop::clock::time_point loop::now() const noexcept {
    return clock::now();
}

std::int64_t loop::read_wall_ms() noexcept {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

void loop::post(std::function<void()> work) {
    asio::post(parts_->executor, std::move(work));
}

void loop::request_stop(cancel_reason why) {
    asio::post(parts_->executor, [alive = alive_, why] {
        if (*alive != nullptr) (*alive)->cancel_.request(why);
    });
}

loop& loop::of(asio::io_context& io) {
    loop_service& service = loop_service::of(io);
    if (service.found == nullptr) service.own = std::make_unique<loop>(io);
    return *service.found;
}

void loop::take_in(std::unique_ptr<detail::loop_tenant> tenant) {
    detail::loop_tenant& kept = *tenant;
    kept.place_ = parts_->tenants.insert(parts_->tenants.end(), std::move(tenant));
}

std::unique_ptr<detail::loop_tenant> loop::hand_out(detail::loop_tenant& tenant) noexcept {
    auto out = std::move(*tenant.place_);
    parts_->tenants.erase(tenant.place_);
    return out;
}

// The ready queue
// ------------------------------------------------------------------------------------------------

void loop::request_drain() noexcept {
    draining_ = true;
    asio::post(parts_->executor, [alive = alive_] {
        if (*alive != nullptr) (*alive)->drain();
    });
}

void loop::drain() noexcept {
    if (resumes_per_drain_ == 1) before_drain();
    int left = resumes_per_drain_;
    bool came = true;
    for (int looks = 0; came && left > 0 && looks < looks_per_drain; ++looks) {
        begin_turn();
        left = run_ready(left);
        came = left > 0 ? wait_for_inlets() : look_at_inlets();
    }
    draining_ = false;
    drop_idle_alarm();
    if (came || ready_.next != &ready_)
        request_drain();
    else
        arm_inlets();
}

/// Resumes what is ready, and gives how many more resumptions would have been allowed.
int loop::run_ready(int at_most) noexcept {
    for (; at_most > 0 && ready_.next != &ready_; --at_most) {
        detail::ready_node* const first = ready_.next;
        detail::ready_node* const second = first->next;
        ready_.next = second;
        second->previous = &ready_;
        first->next = nullptr; // not linked any more
        first->handle.resume();
    }
    return at_most;
}

/// True: something had come from other threads, and who waits for it is ready now.
bool loop::look_at_inlets() {
    bool any = false;
    for (detail::inlet_link *each = looked_at_.next, *next = nullptr; each != &looked_at_; each = next) {
        next = each->next;
        auto* const what = static_cast<detail::inlet*>(each);
        if (!what->has_something()) continue;
        what->came();
        any = true;
    }
    return any;
}

/// The same, but has the patience for a few looks. Only while nothing is ready.
bool loop::wait_for_inlets() {
    if (looked_at_.next == &looked_at_ || !detail::spinning_helps()) return false;
    return detail::spin_for(patience, breath, [this] { return look_at_inlets(); });
}

void loop::arm_inlets() noexcept {
    while (looked_at_.next != &looked_at_)
        static_cast<detail::inlet*>(looked_at_.next)->arm();
}

std::size_t loop::count_ready() const noexcept {
    std::size_t count = 0;
    for (const detail::ready_node* each = ready_.next; each != &ready_; each = each->next)
        ++count;
    return count;
}

void loop::move_to_front(std::size_t n) noexcept {
    detail::ready_node* chosen = ready_.next;
    for (; n > 0; --n)
        chosen = chosen->next;
    schedule_next(*chosen);
}

// Timers
// ---------------------------------------------------------------------------------------------------------

void loop::arm(detail::timer_node& timer, clock::time_point deadline) {
    timer.cancel();
    timer.owner = this;
    timer.deadline = deadline;
    timer.order = parts_->armed++;
    parts_->timers.insert(timer);
    if (!virtual_time_) rearm();
}

void loop::disarm(detail::timer_node& timer) noexcept {
    parts_->timers.erase(timer);
    if (parts_->timers.empty() && parts_->alarm_at && !draining_) request_drain();
}

bool loop::fire_first_timer(clock::time_point& now) {
    if (parts_->timers.empty()) return false;
    detail::timer_node& first = parts_->timers.first();
    now = std::max(now, first.deadline);
    parts_->timers.erase(first);
    schedule(*first.wakes);
    return true;
}

std::optional<loop::clock::time_point> loop::first_deadline() const noexcept {
    if (parts_->timers.empty()) return std::nullopt;
    return parts_->timers.first().deadline;
}

/// Keeps one Asio timer at the first deadline. A wait that was taken back leaves it alone, since one early
/// wake-up is cheaper than setting it anew each time; but see drop_idle_alarm.
void loop::rearm() {
    if (parts_->timers.empty()) return;
    const auto first = parts_->timers.first().deadline;
    if (parts_->alarm_at && *parts_->alarm_at <= first) return;
    parts_->alarm_at = first;
    parts_->alarm.expires_at(first);
    parts_->alarm.async_wait([alive = alive_](std::error_code failed) {
        if (failed || *alive == nullptr) return;
        (*alive)->parts_->alarm_at.reset();
        (*alive)->fire_due_timers();
    });
}

/// Nothing is timed any more: an alarm left behind would keep an io_context running for its whole time, and
/// hide that everything waits in vain.
void loop::drop_idle_alarm() noexcept {
    if (!parts_->alarm_at || !parts_->timers.empty()) return;
    parts_->alarm_at.reset();
    parts_->alarm.cancel();
}

void loop::fire_due_timers() {
    begin_turn();
    const auto due = clock::now();
    while (!parts_->timers.empty() && parts_->timers.first().deadline <= due) {
        detail::timer_node& first = parts_->timers.first();
        parts_->timers.erase(first);
        schedule(*first.wakes);
    }
    rearm();
}

// Running
// --------------------------------------------------------------------------------------------------------

void loop::work_started() noexcept {
    if (external_++ == 0) parts_->work.emplace(parts_->executor);
}

void loop::work_finished() noexcept {
    if (--external_ == 0) parts_->work.reset();
}

bool loop::when_idle() {
    return false;
}

void loop::run_until(const bool& finished) {
    while (!finished) {
        io_->restart();
        if (virtual_time_ && external_ == 0 ? io_->poll() != 0 : io_->run_one() != 0) continue;
        if (when_idle()) continue;
        throw std::logic_error("thalweg: every coroutine waits and nothing is left that could wake one "
                               "(a channel nobody writes to, or a producer that is never finished?)");
    }
}

} // namespace thalweg
