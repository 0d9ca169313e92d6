// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ctrl-C, made orderly: the first one asks long work to stop at its next safe place, the second ends the process.
namespace millrace {

// Installs the handler for SIGINT and SIGTERM. Called once, by main.
void WatchForInterrupt();

// Has the user asked to stop?
bool InterruptRequested();

// Throws Interrupted if so. Long loops call it where nothing is half-done.
void StopIfInterrupted();

}  // namespace millrace
