import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config';
import { SlowFilesFirst } from './test/helpers/slow-files-first.js';

const alias = { holdfast: fileURLToPath(new URL('src/index.ts', import.meta.url)) };
const everywhere = ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'];
const measured = ['test/scale/measured/**/*.test.ts'];
/** Real processes and servers that die, freeze, or are another version. */
const faults = [
  ...['faults', 'outages', 'upgrade'].map((folder) => `test/${folder}/**/*.test.ts`),
  ...['demo', 'recovery', 'serve'].map((name) => `test/cli/${name}.test.ts`),
  'test/chaos/interrupted.test.ts',
];

/** What measures times and rates has the machine to itself, after everything else. */
const projects: TestProjectInlineConfiguration[] = [
  project('behaviour', {
    include: everywhere,
    exclude: [...measured, ...faults],
    sequence: { groupOrder: 0 },
  }),
  project('faults', {
    include: faults,
    maxWorkers: 2,
    maxConcurrency: 3,
    testTimeout: 180_000,
    sequence: { groupOrder: 0 },
  }),
  project('scale', { include: measured, maxWorkers: 1, sequence: { groupOrder: 1 } }),
];

function project(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  const setupFiles = ['test/helpers/after-each-file.ts'];
  const limits = { testTimeout: 60_000, hookTimeout: 180_000 };
  // A process for each file costs more than most files do. Three, since tests of processes wait a lot.
  const processes = { pool: 'forks' as const, isolate: false, maxWorkers: 3 };
  return { resolve: { alias }, test: { name, setupFiles, ...processes, ...limits, ...test } };
}

const config: ViteUserConfig = defineConfig({
  test: { globalSetup: ['test/helpers/global-setup.ts'], sequence: { sequencer: SlowFilesFirst }, projects },
});

export default config;
