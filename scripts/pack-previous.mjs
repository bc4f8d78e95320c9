// Packs what runs of this build as the version before, with which the next one must run side by side:
// test/upgrade/previous.tgz. To be run at each release, and as long as there is none, whenever a migration is edited.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pack-previous-'));
const target = join(folder, 'package');
const runs = (path) => !/\.(d\.ts|map)$|[\\/]dist[\\/]examples$/.test(path);
cpSync(join(root, 'dist'), join(target, 'dist'), { recursive: true, filter: runs });
cpSync(join(root, 'package.json'), join(target, 'package.json'));
const reproducible = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
const archive = join(root, 'test/upgrade/previous.tgz');
execFileSync('tar', [...reproducible, '-I', 'gzip -9n', '-cf', archive, '-C', folder, 'package']);
rmSync(folder, { recursive: true });
