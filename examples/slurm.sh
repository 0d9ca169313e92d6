#!/bin/bash
# A model planned for, and run on, four nodes of a Slurm cluster: sbatch examples/slurm.sh model.onnx
# The model and the command lie on a file system that all nodes see.
#SBATCH --job-name=millrace
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=00:30:00
set -euo pipefail

model=${1:?a model: sbatch $0 model.onnx}
plans=${2:-millrace-out}

# One rank a node, which has all of its processors: Slurm binds them. A rank that ends badly ends the job.
ranks=(srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=none)

"${ranks[@]}" millrace optimize "$model" --target mpi --time-limit 600 -o "$plans"
"${ranks[@]}" millrace measure "$model" --plan "$plans/plan.json" --target mpi
