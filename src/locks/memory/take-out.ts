import type { TakeOutAnswer } from '../lock-table.js';
import type { Call } from './call.js';
import { beginPass } from './begin-pass.js';
import { answerUntilWorkedOff, dissolve } from './dissolve.js';

interface TakeOut {
  task: string;
  entry: number;
}

export function takeOut(call: Call, pass: string, holds: readonly TakeOut[]): TakeOutAnswer[] {
  beginPass(call, pass);
  return answerUntilWorkedOff(call, holds, (item) => takeOutOne(call, item));
}

function takeOutOne(call: Call, item: TakeOut): TakeOutAnswer {
  const hold = call.space.holds.get(item.task);
  if (hold === undefined) return 'gone';
  if (hold.entry > item.entry) return 'stale';
  if (hold.owner !== null) return 'owned';
  dissolve(call, hold);
  return 'taken-out';
}
