// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

// A loop whose passes run on several threads.
namespace millrace {

// Runs work(0) .. work(count - 1), each once, in any order, on up to `threads` threads. Calls progress(done, count),
// if it is given, after each pass, never twice at once. After a pass has failed none begins. Throws what the
// lowest-numbered failing pass threw, after all that began have ended.
void RunInParallel(int count, int threads, const std::function<void(int)>& work,
                   const std::function<void(int, int)>& progress = {});

}  // namespace millrace
