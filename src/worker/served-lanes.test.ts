import { expect, test } from 'vitest';
import { laneText } from '../lane.js';
import { servedLanes, servesLane } from './served-lanes.js';

const offer = {
  queues: ['default', 'media'],
  names: ['encode'],
  versions: { ffmpeg: '6.1', node: 'v20.1.0' },
};
const lane = { queue: 'media', name: 'encode', needs: {} };

test('a lane is served by a worker of its queue that has its definition', () => {
  expect(servesLane(offer, lane)).toBe(true);
  expect(servesLane(offer, { ...lane, queue: 'mail' })).toBe(false);
  expect(servesLane(offer, { ...lane, name: 'decode' })).toBe(false);
});

test.each([
  [{ ffmpeg: '>=6' }, true],
  [{ ffmpeg: '>=6', node: '^20' }, true],
  [{ ffmpeg: '>=7' }, false],
  [{ ffmpeg: '>=6', magick: '*' }, false],
  [{ ffmpeg: 'no range' }, false],
])('needs %j are met: %s', (needs, met) => {
  expect(servesLane(offer, { ...lane, needs })).toBe(met);
});

test('a version that is none meets nothing', () => {
  expect(servesLane({ ...offer, versions: { ffmpeg: 'latest' } }, { ...lane, needs: { ffmpeg: '*' } })).toBe(
    false,
  );
});

test('lanes are served by whichever worker can, in the order given', () => {
  const lanes = [lane, { ...lane, queue: 'mail' }, { ...lane, needs: { ffmpeg: '>=7' } }].map(laneText);
  const newer = { ...offer, versions: { ffmpeg: '7.0.0' } };
  expect(servedLanes(lanes, [offer, newer])).toEqual([lanes[0], lanes[2]]);
  expect(servedLanes(lanes, [])).toEqual([]);
});
