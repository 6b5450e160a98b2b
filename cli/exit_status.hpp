// SPDX-License-Identifier: BSL-1.0

#pragma once

// The program's exit statuses, as `thalweg --help` lists them.

namespace cli {

enum exit_status : int {
    ok = 0,
    failure = 1,
    usage = 2,   ///< the command line is wrong
    refused = 3, ///< the provider does not accept the credentials
    interrupted = 130,
};

} // namespace cli
