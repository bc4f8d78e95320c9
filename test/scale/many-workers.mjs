// Starts as many workers in this one process as its argument says, each with its own connections and heartbeat,
// prints one line once all of them claim, and stops them in order when its standard input ends.
import { once } from 'node:events';
import { createHoldfast } from '../../dist/index.js';
import { hold, work } from './journal-tasks.mjs';

const count = Number(process.argv[2]);
const first = process.argv[3];

const fleet = await Promise.all(
  Array.from({ length: count }, async (_, number) => {
    const hf = await createHoldfast({ tasks: [work, hold] });
    const worker = hf.createWorker({ name: `${first}-${number}`, concurrency: 2 });
    const ready = new Promise((resolve) => worker.on('ready', resolve));
    const running = worker.run();
    await Promise.race([ready, running]);
    return { hf, worker, running };
  }),
);
console.log(JSON.stringify({ ready: true, workers: count }));

process.stdin.resume();
await once(process.stdin, 'end');
await Promise.all(
  fleet.map(async ({ hf, worker, running }) => {
    await worker.stop();
    await running;
    await hf.close();
  }),
);
