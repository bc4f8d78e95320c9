// Runs in both builds: each finds its own package under the name.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTask } from 'holdfast';

function write(kind, { order }, { task, fence }) {
  const { id, entry, exclusive, shared } = task;
  const at = process.hrtime.bigint().toString();
  const line = { kind, task: id, entry, at, exclusive, shared, fence, order, build: process.env.BUILD };
  appendFileSync(process.env.JOURNAL, `\n${JSON.stringify(line)}`);
}

export const work = defineTask({
  name: 'work',
  onWorkerLost: 'retry',
  async run(payload, context) {
    write('start', payload, context);
    await sleep(30);
    write('end', payload, context);
  },
});
