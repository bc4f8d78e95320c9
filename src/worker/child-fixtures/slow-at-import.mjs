import { setTimeout as sleep } from 'node:timers/promises';
import { defineTask } from '../../../dist/tasks/definition.js';

await sleep(1_500);

export const echo = defineTask({
  name: 'echo',
  run: async (payload) => {
    await sleep(1_000);
    return payload;
  },
});
