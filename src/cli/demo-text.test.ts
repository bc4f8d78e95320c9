import { describe, expect, it } from 'vitest';
import type { DemoSetting } from './demo-setting.js';
import type { DemoResult } from './demo.js';
import { demoHints, demoText } from './demo-text.js';

const result: DemoResult = {
  ...{ ok: true, tasks: 300, verified: true, locksLeft: 0, seconds: 10, mode: 'servers', workers: 3 },
  ...{ slots: 12, completed: 300, syncs: 250, collections: 30, publications: 20, resumed: 0, problems: [] },
  ...{ overlaps: 0, packages: 48, files: 900, blobs: 800, bytes: 8_388_608, bytesHashed: 50_000_000 },
  ...{ blobsWritten: 1_100, blobsRemoved: 300, longestQueue: 64 },
};

describe('demoText', () => {
  it('tells what was done and that it is ok', () => {
    const text = demoText(result);
    expect(text).toContain('300 of 300 completed');
    expect(text).toContain('10.0 s, 30 tasks a second');
    expect(text).toMatch(/The demo is ok\.\n$/);
    expect(demoText({ ...result, resumed: 7 })).toContain('7 left by an earlier run');
  });

  it('names what is wrong, but not without end', () => {
    const problems = Array.from({ length: 30 }, (_, n) => `problem ${n}`);
    const text = demoText({ ...result, ok: false, verified: false, problems });
    expect(text).toMatch(/^verified +NO$/m);
    expect(text).toContain('The demo is NOT ok:\n  problem 0\n');
    expect(text).toMatch(/ {2}problem 19\n {2}and 10 more\n$/);
  });
});

describe('demoHints', () => {
  const setting: DemoSetting = {
    ...{ mode: 'servers', workerProcesses: true, dataDir: null, mirror: '/m', temporary: true },
    namespace: undefined,
    remove: () => Promise.resolve(),
  };

  it('gives a command that sees what the demo left', () => {
    expect(demoHints(setting)).toBe('\nLook at what ran: holdfast tasks list --limit 10\n');
    expect(demoHints({ ...setting, namespace: 'n' })).toContain('--limit 10 --namespace n\n');
    const kept: DemoSetting = { ...setting, mode: 'embedded', dataDir: '/d', temporary: false };
    expect(demoHints(kept)).toContain('--limit 10 --embedded --data-dir /d\n');
    expect(demoHints({ ...kept, temporary: true })).toContain('holdfast demo --data-dir .holdfast\n');
  });
});
