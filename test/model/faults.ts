import type { Call, ModelProcess } from './process.js';
import type { Transaction } from './rows.js';
import type { Choice } from './steps.js';
import type { World } from './world.js';
import { execution } from './steps.js';
import { may, spend } from './fault-counts.js';
import { cutChoices, lossChoices } from './table-faults.js';

/** What may go wrong now, and what is left of what went wrong before. All of it may as well never happen. */
export function faultChoices(world: World): Choice[] {
  return [
    ...world.orphans.filter((call) => !world.mustWait(call)).map((call) => late(world, call)),
    ...world.processes.flatMap((process) => processFaults(world, process)),
    ...killedSessions(world),
    ...lossChoices(world),
    ...cutChoices(world),
  ].map((choice) => Object.assign(choice, { optional: true }));
}

/** The server ends the session of one who is dead or has given up, sooner or later. */
export function endedSessions(world: World): Choice[] {
  const abandoned = world.transactions.openTransactions().filter((one) => one.abandoned);
  return abandoned.map((one) => endOfSession(world, one));
}

function killedSessions(world: World): Choice[] {
  if (!may(world, 'killed session')) return [];
  const open = world.transactions.openTransactions().filter((one) => !one.abandoned);
  return open.map((one) => endOfSession(world, one));
}

function endOfSession(world: World, { id, kind, abandoned }: Transaction): Choice {
  return {
    label: () => `the server ends the session of the ${kind}`,
    optional: false,
    happen: async () => {
      if (!abandoned) spend(world, 'killed session');
      world.transactions.end(id);
      world.noteContent('store');
    },
  };
}

function late(world: World, call: Call): Choice {
  const choice = execution(world, call);
  return { ...choice, label: () => `late, ${choice.label()}` };
}

function processFaults(world: World, process: ModelProcess): Choice[] {
  const { failing = ['w'] } = world.scenario;
  const mayFail = failing.some((prefix) => process.name.startsWith(prefix));
  const choices: Choice[] = [];
  const add = (label: string, happen: () => Promise<void> | void): void => {
    choices.push({ label: () => `${process.name} ${label}`, optional: true, happen: async () => happen() });
  };
  if (process.status === 'frozen') add('wakes', () => wake(process));
  if (!mayFail || process.status !== 'live') return choices;
  if (may(world, 'crash')) add('crashes', () => crash(world, process));
  if (may(world, 'freeze')) add('freezes beyond its deadline', () => freeze(world, process));
  if (may(world, 'lost reply')) {
    for (const call of process.calls) {
      if (call.to === 'wait') continue;
      add(`gets no answer to ${call.op}`, async () => {
        spend(world, 'lost reply');
        await world.loseReply(call);
      });
    }
  }
  return choices;
}

function crash(world: World, process: ModelProcess): void {
  spend(world, 'crash');
  world.crash(process);
  world.abandonAllOf(process);
}

function freeze(world: World, process: ModelProcess): void {
  spend(world, 'freeze');
  process.status = 'frozen';
  // Their watchdogs kill the children at the deadline.
  world.ghosts.processEnded(process);
  world.abandonAllOf(process);
}

function wake(process: ModelProcess): void {
  process.status = 'woken';
}
