// Packs what runs of this build as the version before, with which the next one must run side by side:
// test/upgrade/previous.tgz. To be run at each release, and as long as there is none, whenever a migration is edited.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pack-previous-'));
const run = (program, args) => execFileSync(program, args, { cwd: root, encoding: 'utf8' });
const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]));
const unneeded = ['*.d.ts', '*.md', 'package/docs', 'package/dist/examples'];
const without = unneeded.map((pattern) => `--exclude=${pattern}`);
run('tar', ['-xzf', join(folder, packed.filename), '-C', folder, ...without]);
const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
const archive = join(root, 'test/upgrade/previous.tgz');
run('tar', [...reproducible, '-I', 'gzip -9n', '-cf', archive, '-C', folder, 'package']);
rmSync(folder, { recursive: true });
