# What runs on several threads, in one program: all that the thread sanitizer has to watch. Tests of anything else show
# it one thread.
set(threaded_tests
    planning/parallel_test.cc
    search/exact_test.cc
    gflownet/sampling/fused_sampler_test.cc
    gflownet/sampling/remembered_policy_test.cc
    gflownet/sampling/sampler_test.cc
    gflownet/sampling/sampling_planner_test.cc
    go/guided_search_test.cc
    go/planner_test.cc
    runtime/allocation_count.cc
    runtime/executor_order_test.cc
    runtime/executor_test.cc
    runtime/fused_group_test.cc
    runtime/kernel_harness.cc
    runtime/quantized_networks_test.cc
    runtime/random_model.cc
    runtime/reference_kernels.cc
    runtime/unrolled_networks_test.cc
    runtime/weight_cache_test.cc
    runtime/whole_networks_test.cc
    runtime/worker_pool_test.cc
    target/conformance_test.cc
    target/cpu_target_test.cc
    target/hand_over_test.cc
    target/mpi_target_test.cc
    engines/mpi/postman_test.cc
    engines/mpi/team_test.cc
    optimize/annealing_beside_test.cc
    optimize/search_on_test.cc)
foreach(source ${threaded_tests})
  cmake_path(GET source PARENT_PATH room)
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
endforeach()
add_executable(threads_test ${threaded_tests})
set_target_properties(threads_test PROPERTIES UNITY_BUILD_MODE GROUP)
target_include_directories(threads_test PRIVATE ${PROJECT_SOURCE_DIR})
millrace_warnings(threads_test)
millrace_compile_quickly(threads_test)
target_link_libraries(threads_test PRIVATE millrace_optimize millrace_slow_network ${linked} GTest::gmock GTest::gtest_main)
gtest_discover_tests(threads_test NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "threads: " PROPERTIES TIMEOUT 600)
