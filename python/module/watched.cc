// SPDX-License-Identifier: Apache-2.0
#include "watched.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "millrace/errors/stop_flag.h"

namespace py = pybind11;

namespace millrace::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr std::chrono::seconds kPatience{1};

// Works that nobody waits for any more.
std::atomic<int> left_alone{0};

// They must not find what ends with the process gone: it ends without tidying up then.
void EndAtOnceIfAnyIsLeft(int status, void*) {
  if (left_alone.load() == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

// What the work and who waits for it share.
class Course {
 public:
  const StopFlag& stop_flag() const { return stop_; }
  void Stop() { stop_ = true; }

  void Say(const OptimizeStep& step) {
    const std::lock_guard lock(mutex_);
    if (!said_.empty() && said_.back().stage == step.stage && said_.back().method == step.method) said_.pop_back();
    said_.push_back({std::string(step.stage), std::string(step.method), step.done, step.seconds_left});
  }

  void End(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    over_ = true;
    if (alone_) --left_alone;
    ended_.notify_all();
  }

  // Waits at most so long for the end of the work. Is it over?
  bool Wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, most, [this] { return over_; });
  }

  // Nobody will wait for it. False where it is over.
  bool LeaveAlone() {
    const std::lock_guard lock(mutex_);
    if (over_) return false;
    alone_ = true;
    ++left_alone;
    return true;
  }

  std::vector<Progress> TakeSaid() {
    const std::lock_guard lock(mutex_);
    return std::exchange(said_, {});
  }

  // Of work that is over.
  void ThrowFailure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  StopFlag stop_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  bool alone_ = false;
  std::exception_ptr failure_;
  std::vector<Progress> said_;
};

std::thread Start(const std::shared_ptr<Course>& course, std::function<void(const Reporter&)> work) {
  return std::thread([course, work = std::move(work)]() mutable {
    std::exception_ptr failure;
    try {
      const StopScope scope(&course->stop_flag());
      work([&course](const OptimizeStep& step) { course->Say(step); });
    } catch (...) {
      failure = std::current_exception();
    }
    work = nullptr;  // what it owns is gone before it is over
    course->End(std::move(failure));
  });
}

void StopAndLeave(Course& course, std::thread& worker) {
  const py::gil_scoped_release unlocked;
  course.Stop();
  if (course.Wait(kPatience) || !course.LeaveAlone()) {
    worker.join();
    return;
  }
  static std::once_flag once;
  std::call_once(once, [] { on_exit(EndAtOnceIfAnyIsLeft, nullptr); });
  worker.detach();
}

}  // namespace

void RunWatched(std::function<void(const Reporter&)> work, const py::object& progress) {
  const auto course = std::make_shared<Course>();
  std::thread worker = Start(course, std::move(work));
  for (bool over = false; !over;) {
    {
      const py::gil_scoped_release unlocked;
      over = course->Wait(kBetweenLooks);
    }
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      for (const Progress& step : course->TakeSaid()) {
        if (!progress.is_none()) progress(step);
      }
    } catch (...) {
      StopAndLeave(*course, worker);
      throw;
    }
  }
  {
    const py::gil_scoped_release unlocked;
    worker.join();
  }
  course->ThrowFailure();
}

}  // namespace millrace::python
