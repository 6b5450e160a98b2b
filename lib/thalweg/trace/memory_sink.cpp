// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/head_records.hpp>
#include <thalweg/trace/detail/success.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace thalweg::trace {

struct memory_sink::state {
    detail::head_records head;
    std::vector<std::vector<message>> files;
    bool is_rotated = false; // the next record begins a file
    std::size_t writes = 0;
    std::size_t failures = 0;
    error why;

    result<void> append(std::span<const message> messages) {
        const auto is_recordable = [](const message& m) { return m.is_recordable(); };
        for (const message& m : messages)
            head.learn(m);
        if (std::none_of(messages.begin(), messages.end(), is_recordable)) return detail::success();
        ++writes;
        if (failures > 0) {
            --failures;
            return failure(why.code(), why.message());
        }
        if (std::exchange(is_rotated, false))
            files.push_back(head.before(messages));
        else if (files.empty())
            files.emplace_back();
        std::copy_if(messages.begin(), messages.end(), std::back_inserter(files.back()), is_recordable);
        return detail::success();
    }
};

namespace {

task<result<void>> resolved(result<void> done) {
    co_return std::move(done);
}

} // namespace

memory_sink::memory_sink(std::vector<message> head)
    : state_(std::make_unique<state>(state{.head = detail::head_records(head)})) {}

memory_sink::~memory_sink() = default;

task<result<void>> memory_sink::write(std::span<const message> messages) {
    return resolved(state_->append(messages));
}

void memory_sink::rotate() {
    state_->is_rotated = true;
}

result<std::vector<message>> memory_sink::read_back() const {
    std::vector<message> all;
    for (const std::vector<message>& file : state_->files)
        all.insert(all.end(), file.begin(), file.end());
    return all;
}

const std::vector<std::vector<message>>& memory_sink::files() const noexcept {
    return state_->files;
}

std::size_t memory_sink::write_count() const noexcept {
    return state_->writes;
}

void memory_sink::fail_writes(std::size_t count, error why) {
    state_->failures = count;
    state_->why = std::move(why);
}

} // namespace thalweg::trace
