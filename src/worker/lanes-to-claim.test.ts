import { expect, test } from 'vitest';
import { laneText } from '../lane.js';
import { LanesToClaim } from './lanes-to-claim.js';

const offer = { queues: ['default'], names: ['a', 'b'], versions: { tool: '2.0.0' } };
const definitions = [
  { name: 'a', needs: {} },
  { name: 'b', needs: { tool: '>=3' } },
];
const ownLane = laneText({ queue: 'default', name: 'a', needs: {} });
const otherNeeds = laneText({ queue: 'default', name: 'b', needs: { tool: '>=2' } });
const foreign = laneText({ queue: 'mail', name: 'a', needs: {} });

test('the lanes of its own definitions are asked for before the table names any', () => {
  const lanes = new LanesToClaim(offer, definitions);
  expect(lanes.request('1')).toEqual({ lanes: [ownLane], lanesVersion: null });
});

test('a lane that the table names and the worker can serve is asked for, and listened to from then on', () => {
  const lanes = new LanesToClaim(offer, definitions);
  const { lanes: asked } = lanes.request('1');
  expect(lanes.answered('1', asked, { lanesVersion: '5', lanes: [foreign, otherNeeds] })).toBe(true);
  expect(lanes.request('1')).toEqual({ lanes: [otherNeeds, ownLane], lanesVersion: '5' });
  expect(lanes.answered('1', [otherNeeds], { lanesVersion: '6', lanes: [] })).toBe(false);
  expect(lanes.request('1')).toEqual({ lanes: [ownLane], lanesVersion: '6' });
  expect(lanes.toListenTo()).toEqual([ownLane, otherNeeds]);
});

test('an answer without lanes leaves those named before', () => {
  const lanes = new LanesToClaim(offer, definitions);
  lanes.answered('1', [], { lanesVersion: '5', lanes: [otherNeeds] });
  expect(lanes.answered('1', [otherNeeds], { lanesVersion: '5', lanes: null })).toBe(false);
  expect(lanes.request('1').lanes).toContain(otherNeeds);
});

test('another epoch has other lanes and versions', () => {
  const lanes = new LanesToClaim(offer, definitions);
  lanes.answered('1', [], { lanesVersion: '5', lanes: [otherNeeds] });
  expect(lanes.request('2')).toEqual({ lanes: [ownLane], lanesVersion: null });
});

test('with many definitions only the lanes that have holds are asked for', () => {
  const names = Array.from({ length: 50 }, (_, index) => `task-${index}`);
  const lanes = new LanesToClaim(
    { ...offer, names },
    names.map((name) => ({ name, needs: {} })),
  );
  expect(lanes.request('1').lanes).toEqual([]);
  expect(lanes.toListenTo()).toHaveLength(50);
});
