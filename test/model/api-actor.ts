import type { Beater } from '../../src/worker/heartbeat.js';
import type { KnownHolds } from '../../src/worker/known-holds.js';
import type { ApiParts } from '../../src/api/api-parts.js';
import type { HeldLock } from '../../src/api/held-lock.js';
import type { LocalProcess } from './local-process.js';
import type { ScenarioApi } from './scenario.js';
import type { World } from './world.js';
import { ApiIncarnation } from '../../src/api/api-incarnation.js';
import { definitionFor, heartbeatOf, incarnationOf } from './actors.js';
import { defaultPolicies, jobName, queue } from './rows.js';

/** Longer than any pause of a loop: it tells the moment to give up apart from those. */
const waitMs = 60_000;

/** A process that takes a lock, or runs a task at once, as an incarnation of its own: the real one, but for its start. */
export async function addApiProcess(world: World, name: string, api: ScenarioApi): Promise<void> {
  const incarnation = await world.registerApi(name);
  await world.addProcess({ name, kind: 'api', incarnation }, (process) => {
    const own = apiIncarnation(process);
    const { parts } = own;
    process.parts = parts as ApiParts & { known: KnownHolds };
    process.programs.set('beat', async () => {
      void parts.comparing.hearCancels();
      await parts.comparing.compare();
    });
    // Admission is another process's here, as for workers.
    void parts.admission.stop();
    for (const part of loopsOf(parts)) part.start();
    void own.use(() => uses[api.does](process, parts, api)).catch(() => {});
  });
}

const uses = {
  'waits for a lock': async (process: LocalProcess, { locks }: ApiParts, api: ScenarioApi) =>
    hold(process, await locks.acquire({ ...asked(api), waitMs })),
  'takes a lock at once': async (process: LocalProcess, { locks }: ApiParts, api: ScenarioApi) =>
    hold(process, await locks.acquire({ ...asked(api), waitMs: 0 })),
  'runs a task at once': async (process: LocalProcess, { inserts, attempts }: ApiParts, api: ScenarioApi) => {
    const { exclusive, shared } = asked(api);
    const task = {
      ...{ id: `${process.name}#1`, name: jobName, queue, payload: null, exclusive, shared, priority: 0 },
      ...{ needs: {}, parent: null, policies: { ...defaultPolicies, ...api.policies } },
    };
    attempts.begin([await inserts.insertRunning({ task, lock: false })]);
  },
};

function asked({ exclusive = ['a'], shared = [] }: ScenarioApi): {
  exclusive: string[];
  shared: string[];
  asker: null;
  signal: undefined;
} {
  return { exclusive, shared, asker: null, signal: undefined };
}

/** Whoever holds a lock works under it as a handler does, until the explorer has it end; then it lets go. */
function hold(process: LocalProcess, lock: HeldLock): void {
  process.callHandler({ kind: 'lock', task: lock.id, entry: 1 }, lock.signal, () => void lock.release());
}

function apiIncarnation(process: LocalProcess): ApiIncarnation {
  const { owner, store, table, epoch, log } = incarnationOf(process);
  const beater: Beater = { kind: 'caller', beat: async () => 'beaten' };
  const definitions = new Map([[jobName, definitionFor(process, jobName)]]);
  const options = { store, table, epoch, log, beater, definitions, name: process.name };
  const api = new ApiIncarnation(options, owner, heartbeatOf(process));
  const { incarnation } = api.parts;
  const { fence } = incarnation;
  incarnation.fence = (why) => {
    process.status = 'fenced';
    fence(why);
  };
  process.fence = () => incarnation.fence('its time is over');
  return api;
}

function loopsOf(parts: ApiParts): { start(): void }[] {
  const { finishing, releasing, givingBack, discarding, claiming } = parts;
  return [finishing, releasing, givingBack, discarding, claiming];
}
