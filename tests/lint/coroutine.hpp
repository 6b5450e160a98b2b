// SPDX-License-Identifier: BSL-1.0

#pragma once

// The smallest coroutine types that the snippets of this folder need: they are only parsed, never run.

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace snippet {

template <class T>
struct promise_result {
    void return_value(T) {}
};

template <>
struct promise_result<void> {
    void return_void() {}
};

template <class T = void>
class task {
public:
    struct promise_type : promise_result<T> {
        task get_return_object() { return task(); }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void unhandled_exception() { std::terminate(); }
    };

    task() {}
    ~task() {}
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    T await_resume();
};

template <class T>
class generator {
public:
    struct promise_type {
        generator get_return_object() { return generator(); }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(T) { return {}; }
        template <class U>
        U&& await_transform(U&& awaited) {
            return std::forward<U>(awaited);
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    generator() {}
    ~generator() {}
};

struct aggregate {
    std::string text;
    int number = 0;
};

struct trivial {
    int a = 0;
    int b = 0;
};

class built {
public:
    built(std::string text, int number) : text_(std::move(text)), number_(number) {}
    static built make(std::string text) { return built(std::move(text), 1); }

private:
    std::string text_;
    int number_;
};

struct aggregate_awaiter {
    std::string text;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return 1; }
};

task<bool> ready();
task<int> number();
task<std::string> word();
task<aggregate> whole();
task<> take(aggregate);
task<> take_reference(const aggregate&);
task<> take_trivial(trivial);
task<> take_built(built);
task<> take_string(std::string);
task<> take_vector(std::vector<int>);
task<> take_function(std::function<int()>);
task<> take_both(aggregate, int);
task<std::optional<int>> receive();
template <class F>
task<> call(F) {
    return task<>();
}
aggregate make_aggregate(int);

} // namespace snippet
