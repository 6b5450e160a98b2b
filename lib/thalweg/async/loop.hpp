// SPDX-License-Identifier: BSL-1.0

#pragma once

// One thread's run queue and timers, on an asio::io_context that does the waiting.
//
// Coroutines of ours are resumed from three places only: the ready queue, a due timer (through the ready
// queue) and the completion of an Asio operation. The queue is drained by one posted handler with a bound, so
// sockets are looked at even when coroutines never run out of work. When it is empty and other threads were
// busy for this loop a moment ago, the handler waits a few microseconds for more of that before it ends.
//
// Thread rule: all members on the loop's thread, but for post() and request_stop(), which any thread may call
// as long as the loop lives. Many loops may exist, one per thread at a time.

#include <thalweg/async/detail/inlet.hpp>
#include <thalweg/async/detail/root.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio {
class io_context;
}

namespace thalweg {

namespace detail {

/// One armed wait. Lives in the awaiter; its destructor takes it off the loop.
struct timer_node {
    static constexpr std::size_t idle = static_cast<std::size_t>(-1);

    timer_node() = default;
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;
    ~timer_node() { cancel(); }
    void cancel() noexcept;
    [[nodiscard]] bool is_armed() const noexcept { return at != idle; }

    std::chrono::steady_clock::time_point deadline;
    std::uint64_t order = 0; // of arming; equal deadlines fire in this order
    std::size_t at = idle;   // place in the heap
    loop* owner = nullptr;
    ready_node* wakes = nullptr;
};

/// What a loop may own, see loop::take_in.
class loop_tenant {
public:
    loop_tenant() = default;
    loop_tenant(const loop_tenant&) = delete;
    virtual ~loop_tenant() = default;

private:
    friend class thalweg::loop;
    std::list<std::unique_ptr<loop_tenant>>::iterator place_;
};

} // namespace detail

class loop {
public:
    using clock = std::chrono::steady_clock;

    /// A loop with an io_context of its own.
    loop();
    /// A loop on somebody else's io_context, whose run() then drives it. `io` must outlive the loop.
    explicit loop(asio::io_context& io);
    /// Whatever still waits on the loop is destroyed by its owners before this.
    virtual ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    /// Runs `work` to its end on this thread and returns its value; rethrows what it throws. Throws
    /// std::logic_error when `work` waits for something that nothing can bring any more. Not from inside a
    /// running loop.
    template <class T>
    T run(task<T> work);

    /// Asks everything under this loop to stop. Any thread, also a signal thread (not a signal handler).
    void request_stop(cancel_reason why);

    /// Runs `work` on the loop's thread, later; calls of one thread keep their order. Any thread: the door
    /// for foreign threads. An exception that `work` lets out leaves run() (or the run() of somebody else's
    /// io_context); the task of that run() is destroyed then, and the loop may be used again.
    void post(std::function<void()> work);

    /// Time on this loop: real, or virtual in tests. All waits of ours are measured by it.
    [[nodiscard]] virtual clock::time_point now() const noexcept;
    /// UTC, milliseconds since 1970, for time stamps; read at most once per turn of the loop.
    [[nodiscard]] std::int64_t wall_ms() noexcept {
        if (wall_ms_ == 0) wall_ms_ = read_wall_ms();
        return wall_ms_;
    }

    /// The context of coroutines that have no other.
    [[nodiscard]] const context& root_context() const noexcept { return root_; }
    [[nodiscard]] cancel_source& cancel() noexcept { return cancel_; }
    [[nodiscard]] asio::io_context& io() noexcept { return *io_; }

    /// The loop on `io`: one that was made for it, or else its own one, which is made now and lives as long
    /// as `io`.
    [[nodiscard]] static loop& of(asio::io_context& io);

    // For awaiters.
    // --------------------------------------------------------------------------------------------

    /// Puts a suspended coroutine at the end of the ready queue; nothing if it is in it already.
    void schedule(detail::ready_node& node) noexcept {
        if (!node.is_linked()) schedule_running(node);
    }
    /// The same for a coroutine that is certainly not in it, because it runs or has only just begun to wait.
    void schedule_running(detail::ready_node& node) noexcept {
        detail::ready_node* const last = ready_.previous;
        node.next = &ready_;
        node.previous = last;
        last->next = &node;
        ready_.previous = &node;
        if (!draining_) request_drain();
    }
    /// Puts a suspended coroutine at the front of the ready queue, also if it is in it already.
    void schedule_next(detail::ready_node& node) noexcept {
        node.unlink();
        node.previous = &ready_;
        node.next = ready_.next;
        ready_.next->previous = &node;
        ready_.next = &node;
        if (!draining_) request_drain();
    }
    /// Queues `timer.wakes` when `deadline` comes.
    void arm(detail::timer_node& timer, clock::time_point deadline);
    void disarm(detail::timer_node& timer) noexcept;
    /// To be called at the start of an Asio handler that resumes a coroutine.
    void begin_turn() noexcept { wall_ms_ = 0; }

    /// While one lives, something outside (a thread, a socket, a child process) may still bring work: the
    /// loop waits for it instead of reporting a deadlock, and virtual time stands still.
    class external_work {
    public:
        explicit external_work(loop& on) noexcept : alive_(on.alive_) { on.work_started(); }
        external_work(external_work&& other) noexcept = default;
        external_work& operator=(external_work&&) = delete;
        ~external_work() {
            if (alive_ != nullptr && *alive_ != nullptr) (*alive_)->work_finished();
        }

    private:
        std::shared_ptr<loop*>
            alive_; // it may outlive the loop, inside a handler that Asio has not dropped yet
    };

    /// Takes over something that lives on its own until it has ended: it is destroyed with the loop or with
    /// its io_context, unless it was handed out before.
    void take_in(std::unique_ptr<detail::loop_tenant> tenant);
    [[nodiscard]] std::unique_ptr<detail::loop_tenant> hand_out(detail::loop_tenant& tenant) noexcept;
    /// True while the loop destroys its tenants: I/O objects they wait for may be gone already.
    [[nodiscard]] bool is_closing() const noexcept { return closing_; }

protected:
    struct virtual_time_tag {};
    explicit loop(virtual_time_tag);

    /// Called when nothing is runnable and no external work is outstanding. True: it made something runnable.
    virtual bool when_idle();
    [[nodiscard]] virtual std::int64_t read_wall_ms() noexcept;
    /// Moves the first timer's coroutine to the ready queue; false when there is none. For virtual time.
    bool fire_first_timer(clock::time_point& now);

    // For a loop that chooses what runs next (testing/seeded_loop.hpp).

    /// From now on each drain resumes one coroutine, and before_drain() is called before.
    void resume_one_at_a_time() noexcept { resumes_per_drain_ = 1; }
    virtual void before_drain() noexcept {}
    [[nodiscard]] std::size_t count_ready() const noexcept;
    /// Moves the `n`-th runnable coroutine, from 0, to the front of the ready queue.
    void move_to_front(std::size_t n) noexcept;
    [[nodiscard]] std::optional<clock::time_point> first_deadline() const noexcept;

private:
    friend class external_work;
    friend class detail::inlet;
    struct parts; // the Asio side, in loop.cpp
    enum class owned : bool { no, yes };
    loop(asio::io_context& io, owned is_mine);

    void run_until(const bool& finished);
    void request_drain() noexcept;
    void drain() noexcept;
    int run_ready(int at_most) noexcept;
    [[nodiscard]] bool look_at_inlets();
    [[nodiscard]] bool wait_for_inlets();
    void arm_inlets() noexcept;
    void fire_due_timers();
    void rearm();
    void drop_idle_alarm() noexcept;
    void work_started() noexcept;
    void work_finished() noexcept;

    detail::ready_node ready_; // sentinel of a ring
    bool draining_ = false;    // a drain runs or is posted
    int resumes_per_drain_ = 1024;
    bool virtual_time_ = false;
    bool closing_ = false;
    detail::inlet_link looked_at_; // ring: inlets that are watched and not armed
    detail::inlet_link at_rest_;   // ring: the others
    std::int64_t wall_ms_ = 0;
    std::size_t external_ = 0;
    std::shared_ptr<loop*> alive_; // handlers that outlive the loop find null in it
    std::unique_ptr<parts> parts_;
    asio::io_context* io_ = nullptr;
    cancel_source cancel_;
    context root_;
};

template <class T>
T loop::run(task<T> work) {
    detail::single_root owner;
    if constexpr (std::is_void_v<T>) {
        owner.start(detail::run_root(std::move(work)), root_);
        run_until(owner.finished());
        owner.rethrow();
    } else {
        std::optional<T> value;
        owner.start(detail::run_root(detail::store_value(std::move(work), value)), root_);
        run_until(owner.finished());
        owner.rethrow();
        return std::move(*value);
    }
}

} // namespace thalweg
