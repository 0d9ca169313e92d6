#include "tests/reference/slow_simulator.h"
