#include "tests/reference/random_problem.h"
