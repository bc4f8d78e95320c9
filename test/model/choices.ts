import type { Call, ModelProcess, Timer } from './process.js';
import type { Choice } from './steps.js';
import type { World } from './world.js';
import { may, spend } from './fault-counts.js';
import { endedSessions, faultChoices } from './faults.js';
import { wouldClaim } from './reduction.js';
import { delivery, execution, waking } from './steps.js';

/** All that may happen next, in a fixed order. */
export function choicesOf(world: World): Choice[] {
  return [...progressOf(world), ...faultChoices(world)];
}

export function progressOf(world: World): Choice[] {
  const ofProcesses = world.processes.flatMap((process) => [
    ...callChoices(world, process),
    ...handlerChoices(world, process),
    ...timerChoices(world, process),
    ...programChoices(world, process),
    ...fenceChoices(world, process),
  ]);
  return [...ofProcesses, ...endedSessions(world)];
}

function callChoices(world: World, process: ModelProcess): Choice[] {
  return process.calls.flatMap((call) => {
    if (call.to === 'wait') return mayWake(world, call) ? [waking(world, call)] : [];
    if (call.answer !== null) return process.runs ? [delivery(world, call)] : [];
    return world.mustWait(call) ? [] : [execution(world, call)];
  });
}

/** Who cannot prove that it lives claims nothing, and would be woken again and again: once while nothing changes shows all. */
function mayWake(world: World, call: Call): boolean {
  const { process } = call;
  if (!process.runs || !wouldClaim(world, call)) return false;
  return process.status === 'live' || process.wokenIn < world.version;
}

function handlerChoices(world: World, process: ModelProcess): Choice[] {
  if (process.status !== 'live') return [];
  return process.handlers.flatMap((handler) => {
    const end = (how: 'completes' | 'throws' | 'is stopped'): Choice => ({
      label: () => `${process.name}: the ${handler.kind} of ${handler.task} ${how}`,
      optional: false,
      happen: () => {
        if (how === 'throws') spend(world, 'throw');
        const told = { what: 'handler', handler: handler.id, how } as const;
        return world.tell(process, `${handler.kind} ${handler.task} ${how}`, told);
      },
    });
    const ends = [end('completes')];
    if (may(world, 'throw')) ends.push(end('throws'));
    if (handler.aborted) ends.push(end('is stopped'));
    return ends;
  });
}

function timerChoices(world: World, process: ModelProcess): Choice[] {
  if (!process.runs) return [];
  return process.timers.filter((timer) => mayRing(world, timer)).map((timer) => ringing(world, timer));
}

export function ringing(world: World, timer: Timer): Choice {
  return {
    label: () => `${timer.process.name}: goes on after a pause of ${timer.ms} ms`,
    optional: false,
    rings: timer,
    happen: () => world.ring(timer),
  };
}

/**
 * A timer may ring at any time where that can make a difference: after a fault, and where either store has changed, or
 * its process has been told something, since it was set. Where not, whoever looks again finds what it found before.
 */
function mayRing(world: World, timer: Timer): boolean {
  const { process, ms, afterFault, setIn, setAfter } = timer;
  if (process.kind === 'admitter') return needsAdmission(world, process.node.epoch);
  return ms < 10 || afterFault || world.version > setIn || process.deliveries > setAfter;
}

/** In the epoch that it works in: of another it does not hear by this. */
function needsAdmission({ rows, calls }: World, epoch: string | null): boolean {
  const { free } = calls.admissionNeeded(epoch ?? rows.epoch ?? '0') as { free: boolean | null };
  return free === true;
}

function programChoices(world: World, process: ModelProcess): Choice[] {
  if (process.status !== 'live') return [];
  return process.node.programs
    .filter((name) => mayBegin(world, process, name))
    .map((name) => ({
      label: () => `${process.name}: begins to ${name}`,
      optional: !name.startsWith('sweep'),
      happen: () => begin(world, process, name),
    }));
}

export async function begin(world: World, process: ModelProcess, name: string): Promise<void> {
  if (name === 'beat') process.beats += 1;
  if (name === 'stop') world.stops += 1;
  process.begunIn.set(name, world.version);
  await world.tell(process, `begin ${name}`, { what: 'begin', program: name });
}

function mayBegin(world: World, process: ModelProcess, name: string): boolean {
  if (process.node.busyWith.has(name)) return false;
  if (name === 'look') return ![null, world.rows.epoch].includes(process.node.epoch);
  if (name === 'beat') return process.beats < (world.scenario.beats ?? 0);
  if (name === 'stop') return world.stops < (world.scenario.stops ?? 0) && !process.node.beatsNoMore;
  const victim = world.processes.find((one) => `sweep ${one.name}` === name);
  // Only one that does not beat any more, nor can prove that it lives, is ever taken for dead.
  if (victim === undefined || !victim.isDead) return false;
  const { incarnation } = victim;
  const owners = [...(world.table.state.keyspaces.get(world.rows.epoch ?? '')?.owners ?? [])];
  const there = world.rows.workers.has(incarnation) || owners.some((one) => one.endsWith(`:${incarnation}`));
  return there && (process.begunIn.get(name) ?? -1) < world.version;
}

function fenceChoices(world: World, process: ModelProcess): Choice[] {
  if (process.status !== 'woken') return [];
  return [
    {
      label: () => `${process.name}: finds that its time is over, and fences itself`,
      optional: false,
      happen: () => world.tell(process, 'fence', { what: 'fence' }),
    },
  ];
}
