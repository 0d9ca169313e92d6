#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speaks llama-bench's command line and output, with made-up hosts.

$MILLRACE_LLAMA_STAND_IN names a JSON file:
  {"layers": 16, "hosts": {"127.0.0.1:4000": {"token": seconds of one layer, "prompt": the same for 512 tokens,
   "free": bytes}}, "hop": seconds of a stage,
   "output": how many layers the output weighs, "pipelined": bool, "noise": share, "log": file to note every run in,
   "faults": {"ENDPOINT": {"kind": "exit"|"hang"|"crash"|"garbage"|"nothing", "times": how often, "only_alone": bool}}}
"""
import json
import os
import random
import re
import struct
import sys
import time


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def assign(shares, parts):
    """Device of every part, in single precision as llama.cpp computes it."""
    points, total = [], 0.0
    for share in shares:
        total = f32(total + f32(share))
        points.append(total)
    points = [f32(p / total) for p in points]
    devices = []
    for part in range(parts):
        start = f32(f32(part) / f32(parts))
        devices.append(next(i for i, p in enumerate(points) if p > start))
    return devices


def fault_of(spec, hosts):
    for host in hosts:
        fault = spec.get("faults", {}).get(host)
        if fault is None or (fault.get("only_alone") and len(hosts) > 1):
            continue
        counter = os.environ["MILLRACE_LLAMA_STAND_IN"] + ".count." + host.replace(":", "_")
        seen = len(open(counter).read()) if os.path.exists(counter) else 0
        if seen < fault.get("times", 1 << 30):
            with open(counter, "a") as file:
                file.write("x")
            return fault["kind"]
    return None


def main():
    spec = json.load(open(os.environ["MILLRACE_LLAMA_STAND_IN"]))
    known = {"-m", "--rpc", "-ngl", "-dev", "-ts", "-p", "-n", "-ub", "-r", "-o", "-t"}
    flags, verbose, words = {}, False, sys.argv[1:]
    while words:
        word = words.pop(0)
        if word == "-v":
            verbose = True
        elif word in known and words:
            flags[word] = words.pop(0)
        else:
            print("error: invalid parameter for argument: " + word, file=sys.stderr)
            return 1
    if "log" in spec:
        with open(spec["log"], "a") as file:
            file.write(" ".join(sys.argv[1:]) + "\n")
    hosts = flags["--rpc"].split(",")
    for host in hosts:
        if host not in spec["hosts"]:
            print("Failed to connect to " + host, file=sys.stderr)
            return 1
    kind = fault_of(spec, hosts)
    if kind == "exit":
        print("main: error: failed to load model", file=sys.stderr)
        return 1
    if kind == "hang":
        time.sleep(600)
    if kind == "crash":
        print("Remote RPC server crashed or returned malformed response", file=sys.stderr, flush=True)
        os.abort()
    if kind == "garbage":
        print("Segmentation tokens per second: many")
        return 0
    if kind == "nothing":
        return 0
    devices = ["RPC%d" % i for i in range(len(hosts))]
    chosen = flags["-dev"].split("/") if "-dev" in flags else devices
    for name in chosen:
        if name not in devices:
            print("error: invalid device: " + name, file=sys.stderr)
            return 1
    used = [hosts[devices.index(name)] for name in chosen]
    shares = [float(s) for s in re.split("[;/]+", flags["-ts"])] if "-ts" in flags else [spec["hosts"][h]["free"] for h in used]
    shares += [0.0] * (len(used) - len(shares))
    parts = spec["layers"] + 1
    placed = assign(shares, parts)
    if verbose:
        if spec.get("pipelined") and len(used) > 1:
            print("llama_context: pipeline parallelism enabled", file=sys.stderr)
        for part, device in enumerate(placed):
            print("load_tensors: layer %3d assigned to device %s, is_swa = 0" % (part, chosen[device]), file=sys.stderr)

    weight = lambda part: spec.get("output", 1.0) if part == parts - 1 else 1.0
    def stages(what):
        return [sum(weight(p) * spec["hosts"][h][what] for p in range(parts) if placed[p] == d) + spec.get("hop", 0)
                for d, h in enumerate(used) if d in placed]

    def sample(seconds):
        return max(1, int(1e9 * seconds * (1 + random.uniform(-1, 1) * spec.get("noise", 0))))

    def show(prompt, gen, seconds):
        samples = [sample(seconds) for _ in range(int(flags.get("-r", 5)))]
        print(json.dumps({"build_commit": "stand-in", "build_number": 1, "model_filename": flags["-m"],
                          "n_prompt": prompt, "n_gen": gen, "samples_ns": samples,
                          "samples_ts": [1e9 * (prompt + gen) / s for s in samples]}))

    prompt, gen, micro = int(flags["-p"]), int(flags["-n"]), int(flags["-ub"])
    if prompt > 0:
        batches = -(-prompt // micro)
        each = [s * min(prompt, micro) / 512 for s in stages("prompt")]
        pipelined = spec.get("pipelined") and len(each) > 1
        show(prompt, 0, sum(each) + (batches - 1) * max(each) if pipelined else batches * sum(each))
    if gen > 0:
        show(0, gen, gen * sum(stages("token")))
    return 0


sys.exit(main())
