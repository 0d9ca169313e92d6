// SPDX-License-Identifier: Apache-2.0
// Times of one model under ONNX Runtime in its usual modes and under plans of ours, on this machine.
//
//   npm install onnxruntime-node          (in any folder)
//   NODE_PATH=that folder/node_modules node bench/peers/onnxruntime.mjs [--rounds N] [--runs N] \
//       MILLRACE MODEL.onnx [NAME=PLAN.json ...]
//
// MILLRACE is the command. Every measurement is a process of its own that warms up first; they take turns for N rounds,
// so that what slows the machine for a while slows all alike. Printed is one Markdown row per way of running: the median
// over rounds of the rounds' medians, and the fastest single run, in milliseconds. Inputs are seeded random numbers;
// ids are 0 or 1.

import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const self = fileURLToPath(import.meta.url);
const warmUps = 3;
const cores = availableParallelism();
// Of the N threads for ops that parallel mode is given, the caller is one and only waits: ops run on N - 1 workers. On two
// cores that is one op at a time, as in sequential mode.
const modes = {
  'sequential, 1 thread': {executionMode: 'sequential', intraOpNumThreads: 1, interOpNumThreads: 1},
  [`sequential, ${cores} threads`]: {executionMode: 'sequential', intraOpNumThreads: cores, interOpNumThreads: 1},
  [`parallel, ${cores} x 1 threads`]: {executionMode: 'parallel', intraOpNumThreads: 1, interOpNumThreads: cores},
};

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function randomTensor(ort, {name, type, shape}) {
  if (shape.some((size) => typeof size !== 'number')) throw new Error(`input ${name} has a symbolic dimension`);
  const elements = shape.reduce((product, size) => product * size, 1);
  let state = 1;
  const draw = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const filled = {
    float32: () => Float32Array.from({length: elements}, () => 2 * draw() - 1),
    int64: () => BigInt64Array.from({length: elements}, () => BigInt(draw() < 0.5)),
  };
  if (!(type in filled)) throw new Error(`input ${name} is ${type}; only float32 and int64 are filled here`);
  return new ort.Tensor(type, filled[type](), shape);
}

// In a process of its own: the seconds of each run, as JSON.
async function timeOnnxRuntime(mode, runs, model) {
  const ort = createRequire(join(process.env.NODE_PATH ?? process.cwd(), 'here.js'))('onnxruntime-node');
  const options = {...modes[mode], graphOptimizationLevel: 'all', logSeverityLevel: 3};
  const session = await ort.InferenceSession.create(model, options);
  const feeds = Object.fromEntries(session.inputMetadata.map((input) => [input.name, randomTensor(ort, input)]));
  const times = [];
  for (let run = -warmUps; run < runs; ++run) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    if (run >= 0) times.push(Number(process.hrtime.bigint() - start) * 1e-9);
  }
  console.log(JSON.stringify({times}));
}

function compare(rounds, runs, millrace, model, plans) {
  const ways = [];
  for (const mode of Object.keys(modes)) {
    ways.push([`ONNX Runtime ${mode}`, process.execPath, [self, '--time', mode, runs, model]]);
  }
  for (const plan of plans) {
    const [name, path] = plan.split('=');
    const words = ['measure', model, '--plan', path, '--json', '-q', '--repetitions', runs, '--warm-up', warmUps];
    ways.push([name, millrace, words]);
  }
  const times = ways.map(() => []);
  for (let round = 0; round < rounds; ++round) {
    ways.forEach(([, command, words], way) => {
      const output = execFileSync(command, words.map(String), {stdio: ['ignore', 'pipe', 'inherit']});
      times[way].push(JSON.parse(output).times);
    });
  }
  console.log('| model | way | median ms | min ms |\n|---|---|---|---|');
  ways.forEach(([name], way) => {
    const columns = [median(times[way].map(median)), Math.min(...times[way].flat())];
    console.log(`| ${model} | ${name} | ${columns.map((seconds) => (1e3 * seconds).toFixed(2)).join(' | ')} |`);
  });
}

const words = process.argv.slice(2);
if (words[0] === '--time') {
  await timeOnnxRuntime(words[1], Number(words[2]), words[3]);
} else {
  const options = {'--rounds': 5, '--runs': 20};
  while (words[0] in options) options[words.shift()] = Number(words.shift());
  if (words.length < 2) {
    console.error('usage: onnxruntime.mjs [--rounds N] [--runs N] MILLRACE MODEL.onnx [NAME=PLAN.json ...]');
    process.exit(2);
  }
  compare(options['--rounds'], options['--runs'], words[0], words[1], words.slice(2));
}
