import { ownerText } from '../../../owner.js';
import type { BuildingAnswer, BuildingHold } from '../../lock-table.js';
import { asText, asWord, rowsOf } from '../reply.js';
import type { Script } from '../script-runner.js';
import { holdArguments } from './hold-arguments.js';

interface EnteringBuilding {
  promotionLimit: number;
  holds: readonly BuildingHold[];
}

export const enterBuilding: Script<EnteringBuilding, BuildingAnswer[]> = {
  name: 'enter-building',
  encode: ({ promotionLimit, holds }) => [promotionLimit, ...holds.flatMap(buildingArguments)],
  decode: ([, ...answers]) =>
    rowsOf(answers, 2).map(([answer, resource]) => {
      const status = asWord(answer, ['entered', 'conflict']);
      return status === 'entered' ? { status } : { status, resource: asText(resource) };
    }),
};

function buildingArguments(hold: BuildingHold): (string | number)[] {
  const owner = hold.owner === null ? '' : ownerText(hold.owner);
  return [...holdArguments(hold), owner, owner === '' ? '' : (hold.fence ?? '')];
}
