// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/detail/tool_body.hpp>

namespace thalweg::environments::detail {

namespace {

class task_call_awaiter {
public:
    explicit task_call_awaiter(task_call& of) noexcept : call_(of) {}
    task_call_awaiter(const task_call_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(task_call::waiting self) { return call_.suspend(self); }
    answer await_resume() { return call_.resume(); }

private:
    task_call& call_;
};

task_call_awaiter result_of(task_call& call) noexcept {
    return task_call_awaiter(call);
}

} // namespace

tool_stream drive(std::unique_ptr<plain_call> call) {
    auto fault = call->prepare();
    if (fault) co_return tool_result::failed(*fault);
    answer said = call->run();
    co_return std::move(said.result);
}

tool_stream drive(std::unique_ptr<task_call> call) {
    auto fault = call->prepare();
    if (fault) co_return tool_result::failed(*fault);
    call->begin();
    answer said = co_await result_of(*call);
    co_return std::move(said.result);
}

tool_stream drive(std::unique_ptr<stream_call<tool_result>> call) {
    auto fault = call->prepare();
    if (fault) co_return tool_result::failed(*fault);
    auto inner = call->open();
    while (auto piece = co_await inner.next())
        co_yield std::move(*piece);
    co_return std::move(inner.result());
}

tool_stream drive(std::unique_ptr<stream_call<void>> call) {
    auto fault = call->prepare();
    if (fault) co_return tool_result::failed(*fault);
    auto inner = call->open();
    while (auto piece = co_await inner.next())
        co_yield std::move(*piece);
    co_return tool_result::completed();
}

tool_stream drive(std::shared_ptr<blocking_call> call) {
    auto fault = call->prepare();
    if (fault) co_return tool_result::failed(*fault);
    const bool ran = co_await run_on_pool(call);
    if (!ran) co_return tool_result::aborted();
    co_return std::move(call->said->result);
}

} // namespace thalweg::environments::detail
