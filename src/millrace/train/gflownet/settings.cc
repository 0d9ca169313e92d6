// SPDX-License-Identifier: Apache-2.0
#include "millrace/train/gflownet/settings.h"

#include "millrace/errors/errors.h"

namespace millrace {
namespace {

// By RewardForm.
constexpr const char* kRewardNames[] = {"size-scaled", "speedup"};

constexpr const char* kListScheduling = "list-scheduling";

void CheckNetwork(const GFlowNetSettings& s) {
  const bool topoformer = s.encoder == "topoformer";
  if (s.backward == "learned" && !topoformer) throw InvalidInput("backward: learned by the encoder topoformer alone");
  if (topoformer && s.objective != "log_partition_variance" && s.objective != "exact_flow") {
    throw InvalidInput("encoder: topoformer is trained by the objectives log_partition_variance and exact_flow alone");
  }
  if (s.objective == "exact_flow" && (!topoformer || s.backward == "learned")) {
    throw InvalidInput("objective: exact_flow trains the encoder topoformer with the backward policy uniform alone");
  }
  if (topoformer && s.outlook != "none") throw InvalidInput("outlook: the encoder topoformer has none");
  if (s.window_share > 0 && topoformer) throw InvalidInput("window_share: the encoder topoformer learns no windows");
  if (s.window_share > 0 && s.objective == "trajectory_balance") {
    throw InvalidInput("window_share: trajectory_balance has one log Z a graph, and every window has its own");
  }
}

}  // namespace

SettingsTable TableOf(GFlowNetSettings& s) {
  const Allowed share = Between(0, 1);
  SettingsTable table = {
      {"objective", &s.objective, OneOf(ObjectiveNames()), "what training descends"},
      {"encoder", &s.encoder, OneOf({"mpnn", "topoformer"}),
       "the network; topoformer encodes the state at every step: for small graphs"},
      {"outlook", &s.outlook, OneOf({"none", kListScheduling}),
       "what the encoder mpnn is shown besides: what the next steps of list scheduling make of every choice"},
      {"backward", &s.backward, OneOf({"uniform", "learned"}), "P_B; learned by a topoformer alone"},
      {"reward", &s.reward, OneOf({std::begin(kRewardNames), std::end(kRewardNames)}),
       "log reward times its temperature: groups x (makespan of HEFT / makespan - 1), or speedup - devices"},
      {"validation", &s.validation, OneOf({"grid", "exactness"}),
       "what weights are kept by: plans of a fixed grid of problems, or the distance from R / Z on problems with as "
       "many plans as fewest_plans and most_plans say"},
      {"prior_scale", &s.prior_scale, Between(1e-6, 1e3),
       "what the strengths of the heuristic priors that training starts from are multiplied by"},
      {"updates", &s.updates, Between(0, 1e9), "updates in all"},
      {"graphs_per_update", &s.graphs_per_update, Between(1, 1024), "problems of an update"},
      {"trajectories", &s.trajectories, Between(2, 1 << 16), "plans sampled per problem of an update"},
      {"recorded_share", &s.recorded_share, Between(1e-3, 1), "share of steps that the gradient is taken of"},
      {"most_recorded_steps", &s.most_recorded_steps, Between(1, 1e9),
       "about how many steps per problem the gradient is taken of at most"},
      {"lowest_temperature", &s.lowest_temperature, Between(1e-6, 1e6),
       "lowest reward temperature; one is drawn log-uniformly per problem"},
      {"highest_temperature", &s.highest_temperature, From("lowest_temperature", s.lowest_temperature, 1e6),
       "highest reward temperature"},
      {"epsilon", &s.epsilon, share, "share of uniform choice mixed into the policy that samples"},
      {"window_share", &s.window_share, share,
       "share of problems of which windows of a plan are drawn, with the rest of the plan as it is"},
      {"windows", &s.windows, Between(1, 1024), "windows of such a problem, each of the best plan so far"},
      {"fewest_window_steps", &s.window_sizes.fewest, Between(1, 1 << 16), "fewest steps of a window; log-uniform"},
      {"most_window_steps", &s.window_sizes.most, From("fewest_window_steps", s.window_sizes.fewest, 1 << 16),
       "most steps of a window"},
      {"most_window_ops", &s.most_window_ops, From("fewest_ops", s.problems.fewest_ops, 100'000),
       "most ops of a graph of which windows are drawn"},
      {"learning_rate", &s.learning_rate, share, "learning rate of Adam at the start; it falls linearly"},
      {"last_learning_rate", &s.last_learning_rate, share, "learning rate of Adam at the end"},
      {"gradient_limit", &s.gradient_limit, Between(0, 1e9), "what the gradient's norm is cut down to; 0: it is not"},
      {"average_decay", &s.average_decay, share, "decay of the weights' moving average, which is what is kept"}};
  AppendRows(TableOf(s.objective_settings), table);
  AppendRows({{"demonstration_weight", &s.demonstration_weight, Between(0, 1e6),
               "weight of annealed plans to imitate, against 1 for the objective; it falls linearly; 0: none"},
              {"last_demonstration_weight", &s.last_demonstration_weight, Between(0, 1e6),
               "weight of annealed plans at the end"},
              {"demonstration_progress", &s.demonstration_progress, share, "share of the training that imitates alone"},
              {"demonstration_problems", &s.demonstration_problems, Between(1, 1e6), "problems with a plan to imitate"},
              {"demonstration_trajectories", &s.demonstration_trajectories, Between(1, 1 << 16),
               "ways to build a plan to imitate, per update"},
              {"highest_demonstration_temperature", &s.highest_demonstration_temperature,
               From("lowest_temperature", s.lowest_temperature, 1e6),
               "highest reward temperature for annealed plans, which are what sharp rewards ask for"},
              {"demonstration_visits", &s.demonstration_visits, Between(1e3, 1e15),
               "visits of groups and edges that annealing makes per problem"}},
             table);
  AppendRows(TableOf(s.problems), table);
  AppendRows(TableOf(s.exact), table);
  AppendRows({{"validate_every", &s.validate_every, Between(1, 1e9), "updates from one validation to the next"},
              {"validation_graphs", &s.validation_graphs, Between(1, 1000), "problems per cell of the validation grid"},
              {"validation_samples", &s.validation_samples, Between(1, 1 << 16),
               "plans sampled per problem of the validation grid"},
              {"validation_temperatures", &s.validation_temperatures, NotEmpty(Between(1e-6, 1e6)),
               "reward temperatures that are validated"}},
             table);
  return table;
}

void CheckSettings(const GFlowNetSettings& settings) {
  CheckRowsOf(settings);
  CheckNetwork(settings);
}

RewardForm RewardFormNamed(std::string_view name) {
  if (name == kRewardNames[0]) return RewardForm::kSizeScaled;
  if (name == kRewardNames[1]) return RewardForm::kSpeedup;
  throw InvalidInput("reward: there is no '" + std::string(name) + "'; there are size-scaled, speedup");
}

}  // namespace millrace
