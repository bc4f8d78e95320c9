// Compiles src/ to dist/, copies the Lua and SQL files that live beside the code that owns them, and bundles the result.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
compile('tsconfig.build.json');
// The mirror example imports 'holdfast' as any user does, so it compiles against what was just built.
if (existsSync(join(root, 'examples/mirror/tsconfig.json'))) compile('examples/mirror/tsconfig.json');
cpSync(join(root, 'src'), dist, {
  recursive: true,
  filter: (path) => ['', '.lua', '.sql'].includes(extname(path)),
});
await bundle();
const bin = join(dist, 'cli/main.js');
if (existsSync(bin)) chmodSync(bin, 0o755);

function compile(project) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' });
}
