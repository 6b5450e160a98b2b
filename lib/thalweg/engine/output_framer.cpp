// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/output_framer.hpp>

#include <utility>

namespace thalweg {

void output_framer::start() {
    if (std::exchange(started_, true)) return;
    pending_.push_back(message::partial_tool_call_output(frame::start, id_));
}

void output_framer::add(text piece) {
    if (repair_.is_empty() && utf8::is_valid(piece)) return pass(std::move(piece));
    std::string valid;
    repair_.feed(piece, valid);
    pass(text(valid));
}

/// Passes the head on until the limit; the rest is swallowed and the tool runs on (R-ENV-06).
void output_framer::pass(text valid) {
    if (valid.empty() || truncated_) return;
    if (limit_ > 0) {
        const auto size = static_cast<std::int64_t>(utf8::count(valid));
        const std::int64_t room = limit_ - passed_;
        if (size > room) {
            truncated_ = true;
            valid = text(utf8::truncate(valid, static_cast<std::size_t>(room)));
            if (valid.empty()) return;
        }
        passed_ += size;
    }
    delta(std::move(valid));
}

void output_framer::delta(text piece) {
    start();
    content_ += piece.view();
    message m = message::partial_tool_call_output(frame::delta, id_, std::move(piece));
    if (is_closing_) m = std::move(m).as_closing();
    pending_.push_back(std::move(m));
}

void output_framer::finish(stop_reason status, const std::vector<std::string>& notes,
                           std::vector<text> images, text details_json) {
    is_closing_ = true;
    std::string rest;
    repair_.flush(rest);
    pass(text(rest));

    std::string tail;
    const auto note = [&tail](std::string_view line) {
        if (line.empty()) return;
        if (!tail.empty()) tail += '\n';
        tail += line;
    };
    if (truncated_) note("[output truncated: exceeded " + std::to_string(limit_) + " chars]");
    for (const std::string& each : notes)
        note(utf8::make_valid(each));
    if (content_.empty() && tail.empty()) tail = "[no output]";
    if (!tail.empty()) delta(text(content_.empty() ? tail : "\n" + tail));

    start();
    if (status != stop_reason::completed) images.clear();
    if (!images.empty()) {
        pending_.push_back(message::partial_tool_call_output(frame::delta, id_).with_images(images));
    }
    pending_.push_back(message::partial_tool_call_output(frame::stop, id_).with_stop(status));
    complete(status, std::move(images), std::move(details_json));
}

void output_framer::finish_bare(std::string_view output) {
    const std::string valid = utf8::make_valid(output);
    if (started_) return finish(stop_reason::failed, {valid}, {});
    content_ = valid;
    complete(stop_reason::failed, {}, {});
}

void output_framer::complete(stop_reason status, std::vector<text> images, text details_json) {
    finished_ = true;
    message output = message::tool_call_output(text(content_), id_)
                         .with_provider_id(provider_id_)
                         .with_stop(status);
    if (!images.empty()) output = std::move(output).with_images(std::move(images));
    if (!details_json.empty()) output = std::move(output).with_details(std::move(details_json));
    pending_.push_back(std::move(output));
}

} // namespace thalweg
