// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/message_details.hpp>

#include <algorithm>

namespace thalweg {

namespace {

const text no_text;

template <std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, std::size_t value) noexcept {
    return value < N ? names[value] : std::string_view();
}

// `{}` with any white space in it.
bool is_empty_object(std::string_view json) noexcept {
    return std::all_of(json.begin(), json.end(), [](char c) {
        return std::string_view("{} \t\r\n").find(c) != std::string_view::npos;
    });
}

} // namespace

token_counts& token_counts::operator+=(const token_counts& more) noexcept {
    cache_read += more.cache_read;
    cache_write += more.cache_write;
    output += more.output;
    total += more.total;
    return *this;
}

void message::share() const noexcept {
    details_->references.fetch_add(1, std::memory_order_relaxed);
}

void message::release() noexcept {
    if (details_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete details_;
    details_ = nullptr;
}

message::details& message::own() {
    if (details_ == nullptr) {
        details_ = new details;
    } else if (details_->references.load(std::memory_order_acquire) != 1) {
        auto* mine = new details(*details_);
        release();
        details_ = mine;
    }
    return *details_;
}

message message::user_text(text body) {
    return message(kind::text, role::user, frame::none, stop_reason::completed, std::move(body));
}

message message::assistant_text(text body) {
    return message(kind::text, role::assistant, frame::none, stop_reason::completed, std::move(body));
}

message message::thinking(text body) {
    return message(kind::thinking, role::assistant, frame::none, stop_reason::completed, std::move(body));
}

message message::tool_call(text name, text arguments, text tool_call_id) {
    message made(kind::tool_call, role::assistant, frame::none, stop_reason::completed, std::move(arguments),
                 std::move(tool_call_id));
    made.own().name = std::move(name);
    return made;
}

message message::tool_call_output(text output, text tool_call_id) {
    return message(kind::tool_call_output, role::user, frame::none, stop_reason::completed, std::move(output),
                   std::move(tool_call_id));
}

message message::image_url(text url) {
    return message(kind::image_url, role::user, frame::none, stop_reason::completed, std::move(url));
}

message message::inline_data(thalweg::role by, text base64, text mime_type) {
    message made(kind::inline_data, by, frame::none, stop_reason::completed, std::move(base64));
    made.own().mime_type = std::move(mime_type);
    return made;
}

message message::inline_thinking(text base64, text mime_type) {
    message made(kind::inline_thinking, role::assistant, frame::none, stop_reason::completed,
                 std::move(base64));
    made.own().mime_type = std::move(mime_type);
    return made;
}

message message::partial_tool_call(thalweg::frame f, text tool_call_id, text name, text arguments_delta) {
    message made(kind::partial_tool_call, role::assistant, f, stop_reason::completed,
                 std::move(arguments_delta), std::move(tool_call_id));
    if (!name.empty()) made.own().name = std::move(name);
    return made;
}

message message::request_begin() {
    return message(kind::request_begin, role::user, frame::none, stop_reason::none, {});
}

message message::approval_decision(thalweg::decision d, text tool_call_id) {
    message made(kind::approval_decision, role::user, frame::none, stop_reason::none, {},
                 std::move(tool_call_id));
    made.head_.decision = static_cast<std::uint8_t>(d);
    return made;
}

message message::run_begin() {
    return message(kind::run_begin, role::user, frame::none, stop_reason::none, {});
}

message message::agent_input(text json_object) {
    return message(kind::agent_input, role::user, frame::none, stop_reason::none, std::move(json_object))
        .as_input();
}

message message::response_begin() {
    return message(kind::response_begin, role::user, frame::none, stop_reason::none, {});
}

message message::call_begin(text tool_call_id, text name, text arguments, text label) {
    message made(kind::call_begin, role::user, frame::none, stop_reason::none, std::move(arguments),
                 std::move(tool_call_id));
    made.own().name = std::move(name);
    made.own().beside = std::move(label);
    return made;
}

message message::body_begin(text tool_call_id) {
    return message(kind::body_begin, role::user, frame::none, stop_reason::none, {}, std::move(tool_call_id));
}

message message::call_progress(text tool_call_id, text content, text details_json) {
    message made(kind::call_progress, role::user, frame::none, stop_reason::none, std::move(content),
                 std::move(tool_call_id));
    return std::move(made).with_details(std::move(details_json));
}

message message::call_settled(text tool_call_id) {
    return message(kind::call_settled, role::user, frame::none, stop_reason::none, {},
                   std::move(tool_call_id));
}

message message::batch_settled() {
    return message(kind::batch_settled, role::user, frame::none, stop_reason::none, {});
}

template <class Event>
message message::event(Event payload) {
    message made(detail::kind_of_event<Event>, role::user, frame::none, stop_reason::none, {});
    if constexpr (std::is_same_v<Event, struct session_meta>) {
        made.own().event = std::make_shared<const struct session_meta>(std::move(payload));
    } else {
        made.own().event = std::move(payload);
    }
    return made;
}

message message::session_meta(struct session_meta payload) {
    return event(std::move(payload));
}

template <class Event>
const Event* message::event_if() const noexcept {
    if (details_ == nullptr) return nullptr;
    if constexpr (std::is_same_v<Event, struct session_meta>) {
        const auto* kept = std::get_if<std::shared_ptr<const struct session_meta>>(&details_->event);
        return kept == nullptr ? nullptr : kept->get();
    } else {
        return std::get_if<Event>(&details_->event);
    }
}

#define THALWEG_EVENT(type)                                                                                  \
    template message message::event<type>(type);                                                             \
    template const type* message::event_if<type>() const noexcept;
THALWEG_EVENT(request_end)
THALWEG_EVENT(token_usage)
THALWEG_EVENT(run_abort)
THALWEG_EVENT(compaction_begin)
THALWEG_EVENT(compaction_end)
THALWEG_EVENT(subagent)
THALWEG_EVENT(tool_list_ready)
THALWEG_EVENT(mcp_connect_begin)
THALWEG_EVENT(mcp_connect_end)
THALWEG_EVENT(goal_finished)
THALWEG_EVENT(trace_fault)
THALWEG_EVENT(notice)
THALWEG_EVENT(run_end)
THALWEG_EVENT(struct session_meta)
#undef THALWEG_EVENT

message&& message::with_stop(stop_reason reason) && {
    head_.stop = static_cast<std::uint8_t>(reason);
    return std::move(*this);
}

message&& message::with_fidelity(text json_object) && {
    if (is_empty_object(json_object)) json_object = text();
    if (!json_object.empty() || !fidelity().empty()) own().fidelity = std::move(json_object);
    return std::move(*this);
}

message&& message::with_images(std::vector<text> data_urls) && {
    if (!data_urls.empty() || !images().empty()) own().images = std::move(data_urls);
    return std::move(*this);
}

message&& message::with_sender(text sender) && {
    if (sender == "user") sender = text();
    if (!sender.empty() || !this->sender().empty()) own().sender = std::move(sender);
    return std::move(*this);
}

message&& message::with_details(text details_json) && {
    if (details_json == "null") details_json = text();
    if (!details_json.empty() || !this->details_json().empty()) own().beside = std::move(details_json);
    return std::move(*this);
}

message&& message::with_tool_call_id(text id) && {
    id_ = std::move(id);
    return std::move(*this);
}

message&& message::with_provider_id(text id) && {
    if (id == id_) id = text();
    if (!id.empty() || details_ != nullptr) own().provider_id = std::move(id);
    return std::move(*this);
}

message&& message::with_origin_prefix(text session_id) && {
    auto& hops = own().origin;
    hops.insert(hops.begin(), std::move(session_id));
    return std::move(*this);
}

message&& message::with_timestamp(std::int64_t ms_since_epoch) && {
    stamp(ms_since_epoch);
    return std::move(*this);
}

void message::stamp(std::int64_t ms_since_epoch) noexcept {
    constexpr std::int64_t latest = (std::int64_t(1) << 44) - 2;
    head_.stamp = static_cast<std::uint64_t>(std::clamp(ms_since_epoch, std::int64_t(0), latest) + 1);
}

const text& message::name() const noexcept {
    return details_ == nullptr ? no_text : details_->name;
}

const text& message::label() const noexcept {
    return details_ == nullptr || kind() != kind::call_begin ? no_text : details_->beside;
}

const text& message::details_json() const noexcept {
    return details_ == nullptr || kind() == kind::call_begin ? no_text : details_->beside;
}

const text& message::mime_type() const noexcept {
    return details_ == nullptr ? no_text : details_->mime_type;
}

const text& message::sender() const noexcept {
    return details_ == nullptr ? no_text : details_->sender;
}

const text& message::fidelity() const noexcept {
    return details_ == nullptr ? no_text : details_->fidelity;
}

const text& message::provider_id() const noexcept {
    return details_ == nullptr || details_->provider_id.empty() ? id_ : details_->provider_id;
}

const text& message::type_name() const noexcept {
    static const auto names = [] {
        std::array<text, detail::kind_names.size()> made;
        std::copy(detail::kind_names.begin(), detail::kind_names.end(), made.begin());
        return made;
    }();
    if (details_ != nullptr && !details_->type_name.empty()) return details_->type_name;
    return names[head_.kind];
}

std::span<const text> message::images() const noexcept {
    if (details_ == nullptr) return {};
    return details_->images;
}

std::span<const text> message::origin() const noexcept {
    if (details_ == nullptr) return {};
    return details_->origin;
}

std::string_view to_string(kind k) noexcept {
    return name_of(detail::kind_names, static_cast<std::size_t>(k));
}

std::string_view to_string(role r) noexcept {
    return name_of(detail::role_names, static_cast<std::size_t>(r));
}

std::string_view to_string(stop_reason r) noexcept {
    return name_of(detail::stop_reason_names, static_cast<std::size_t>(r));
}

std::string_view to_string(frame f) noexcept {
    return name_of(detail::frame_names, static_cast<std::size_t>(f));
}

std::string_view to_string(decision d) noexcept {
    return name_of(detail::decision_names, static_cast<std::size_t>(d));
}

} // namespace thalweg
