// SPDX-License-Identifier: BSL-1.0

#pragma once

// One request to a model's server, from the body to the outcome: the whole of a provider's generate() but for
// the two things that only its protocol knows, what to ask and how to read.
//
//     stream<delta, model_outcome> generate(model_request request) {
//         return wire::exchange(endpoint_, body_of(request), std::make_unique<my_decoder>());
//     }
//
// Thread rule: loop thread only. Nothing throws.

#include <thalweg/async/stream.hpp>
#include <thalweg/net/http_events.hpp>
#include <thalweg/protocol/delta.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/endpoint.hpp>

#include <memory>
#include <string>

namespace thalweg::wire {

/// Sends `body` to `at` when the stream is first read, gives every event to `decoder`, and yields what it
/// makes of them.
///
/// It stops reading when nothing more can change the answer (after a short wait, so that the connection can
/// be used again). Errors: in the outcome, see answer_outcome(); a refusal of `at` ends it before anything is
/// sent. Cancel: a stop request ends it as aborted; dropping the stream closes the connection. Lifetime: it
/// owns or shares all that it needs.
[[nodiscard]] stream<delta, model_outcome> exchange(std::shared_ptr<const endpoint> at, std::string body,
                                                    std::unique_ptr<answer_decoder> decoder);

} // namespace thalweg::wire
