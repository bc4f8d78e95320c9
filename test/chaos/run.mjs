// npm run chaos -- [--minutes N] [--seed N] …: see docs/reference/reliability/chaos.md.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const { module } = await runnerImport(main, { logLevel: 'error', configFile: false });
process.exitCode = await module.main(process.argv.slice(2));
