import type { Call } from './process.js';
import type { World } from './world.js';

/** A poll that finds nothing changes nothing, so only those are chosen that find something. */
export function wouldClaim({ table }: World, { args }: Call): boolean {
  const [epoch, lanes] = args as [string, string[]];
  const { epoch: record, identity, keyspaces } = table.state;
  if (record?.number !== epoch || record.status !== 'open' || record.identity !== identity) return true;
  const space = keyspaces.get(epoch);
  return space !== undefined && (space.marks.size > 0 || lanes.some((lane) => space.ready.has(lane)));
}

/**
 * What is answered at once, because that commutes with all that others may do meanwhile: a call that changes nothing and
 * reads what nobody changes in this scenario, and an empty poll, which is a stutter.
 */
export function isInvisible(world: World, call: Call): boolean {
  const { faults = {}, clients = [] } = world.scenario;
  const epochStays =
    !world.hasBegun ||
    (faults['lost table'] === undefined && faults['lost hold'] === undefined && world.rows.rebuild === null);
  const nobodyDies = !('crash' in faults) && !('freeze' in faults) && world.scenario.stops === undefined;
  const asksForLocks = world.scenario.apis !== undefined;
  if (call.to === 'world') return true;
  switch (call.op) {
    case 'readNamespace':
    case 'readEpoch':
      return epochStays;
    // Nothing but the offers of others: each admitter here serves every lane itself.
    case 'servingWorkers':
      return world.scenario.losesLane !== true && (!asksForLocks || nobodyDies);
    case 'admissionNeeded':
      return world.scenario.losesLane !== true;
    case 'lanesToAdmit':
      return !asksForLocks;
    case 'continuePauses':
      return !clients.some((what) => what.includes('pause') || what.includes('resume'));
    case 'listOwner':
      return nobodyDies && epochStays;
    case 'continuePromotions':
      return epochStays && (world.table.state.keyspaces.get(String(call.args[0]))?.marks.size ?? 0) === 0;
    case 'openPass':
      return world.rows.admission === null && !('killed session' in faults) && epochStays;
    case 'markedTakeOuts':
      return world.rows.tasks.every(({ takeOut }) => takeOut === null);
    case 'endUnclaimedRollbacks':
      return world.rows.tasks.every(({ state }) => state !== 'rolling_back');
    case 'claim': {
      const { lanes } = call.args[1] as { lanes: string[] };
      return epochStays && !wouldClaim(world, { ...call, args: [call.args[0], lanes] });
    }
    default:
      return false;
  }
}
