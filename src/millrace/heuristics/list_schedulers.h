// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "millrace/heuristics/partial_schedule.h"

// The heuristics that give one answer, as functions. Seconds.
//
// All of them differ from their papers in the same ways. A device may own several units: a group then occupies all of
// them, and who may take such a device is settled beforehand (gang_choice.h). Groups of one colocation follow the first
// that is placed, whose device is chosen with the seconds of all members in mind. Devices that cannot run a group, or
// whose memory would be too full (MemoryLedger), are passed over. A mean over processors is one over the devices that
// can run the group. Where the papers leave ties open, the group earlier in topological order goes first, and the
// device with fewer units, then the lower number.
namespace millrace {

// Everything on the device where all groups together take the least, in topological order. A group that device cannot
// take goes where it is fastest.
PlannedAssignment ScheduleSequential(const CostedGraph& costed);

// Longest remaining path first, on the device that is free earliest; blind to communication and to who is fast.
// Source: Graham, "Bounds on Multiprocessing Timing Anomalies", 1969; Adam, Chandy, Dickson, "A Comparison of List
// Schedules for Parallel Processing Systems", CACM 1974.
PlannedAssignment ScheduleList(const CostedGraph& costed);

// HEFT: by upward rank, each group where it finishes first, idle gaps included (kFill) or not (kLeave).
// Source: Topcuoglu, Hariri, Wu, "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous
// Computing", IEEE TPDS 2002. O((groups + edges) x devices) but for the search among gaps.
PlannedAssignment ScheduleHeft(const CostedGraph& costed, PartialSchedule::Gaps gaps);

// CPOP, of the same paper: the ready group with the longest path through it first; the groups of the critical path all
// on the one device that runs them fastest, the others where they finish first, idle gaps included.
PlannedAssignment ScheduleCpop(const CostedGraph& costed);

// PEFT: an optimistic cost table says what must still follow a group on each device; ready groups by the table's mean,
// each where finish plus table is least, idle gaps included.
// Source: Arabnejad, Barbosa, "List Scheduling Algorithm for Heterogeneous Systems by an Optimistic Cost Table", IEEE
// TPDS 2014.
PlannedAssignment SchedulePeft(const CostedGraph& costed);

// ETF: of all ready groups and devices the pair that can start first; ties to the higher static level, then to less
// unit time, since the paper's processors are alike.
// Source: Hwang, Chow, Anger, Lee, "Scheduling Precedence Graphs in Systems with Interprocessor Communication Times",
// SIAM J. Computing 1989.
PlannedAssignment ScheduleEtf(const CostedGraph& costed);

// DLS: the pair with the highest dynamic level, static level (of median seconds) - earliest start + how much faster
// than its median the device runs the group.
// Source: Sih, Lee, "A Compile-Time Scheduling Heuristic for Interconnection-Constrained Heterogeneous Processor
// Architectures", IEEE TPDS 1993.
PlannedAssignment ScheduleDls(const CostedGraph& costed);

// Min-min: the ready group that can finish first, where it does. Max-min: the ready group whose first finish is the
// latest, where it finishes first. Made for independent tasks; here over the ready set, with communication.
// Source: Ibarra, Kim, "Heuristic Algorithms for Scheduling Independent Tasks on Nonidentical Processors", JACM 1977;
// Maheswaran, Ali, Siegel, Hensgen, Freund, "Dynamic Mapping of a Class of Independent Tasks onto Heterogeneous
// Computing Systems", JPDC 1999.
PlannedAssignment ScheduleMinMin(const CostedGraph& costed);
PlannedAssignment ScheduleMaxMin(const CostedGraph& costed);

}  // namespace millrace
