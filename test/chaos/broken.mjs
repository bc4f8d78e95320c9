// npm run chaos:broken [-- --only NAME] [--seeds N] [--minutes N]: see docs/reference/reliability/chaos.md.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const file = fileURLToPath(new URL('broken.ts', import.meta.url));
const { module } = await runnerImport(file, { logLevel: 'error', configFile: false });
process.exitCode = await module.main(process.argv.slice(2));
