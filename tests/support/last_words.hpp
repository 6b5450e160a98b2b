// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a process that ends itself says before.

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

/// Runs `fatal` in a child process; what it wrote on standard error, or "it did not abort".
template <class Fatal>
std::string last_words(Fatal fatal) {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL); // not the test framework's
        ::dup2(ends[1], STDERR_FILENO);
        fatal();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[256];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return "no child";
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? said : "it did not abort: " + said;
}
