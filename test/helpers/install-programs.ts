import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { findProgram, packageOf, type Program } from './programs.js';

const needed: Program[] = ['redis-server', 'redis-cli', 'postgres', 'initdb', 'pgbouncer', 'faketime'];
const policyFile = '/usr/sbin/policy-rc.d';

/** Makes sure that every program the tests start is there in a version that Holdfast supports. */
export function ensurePrograms(): void {
  const missing = needed.filter((program) => findProgram(program) === null);
  if (missing.length > 0) install(missing);
  checkVersion('redis-server', 7);
  checkVersion('postgres', 14);
}

function install(missing: Program[]): void {
  const packages = [...new Set(missing.map((program) => packageOf[program]))];
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.env['HOLDFAST_TEST_INSTALL'] === '0' || process.getuid?.() !== 0 || !isDebianLike()) {
    throw new Error(
      `The tests start their own Redis (7 or later), PostgreSQL (14 or later) and PgBouncer, and need faketime; ` +
        `missing here: ${missing.join(', ')}. On Debian or Ubuntu, as root: ${command}`,
    );
  }
  process.stderr.write(
    `The tests need ${missing.join(', ')}, missing here. Installing as root, without starting any service ` +
      `(HOLDFAST_TEST_INSTALL=0 forbids it): ${command}\n`,
  );
  withoutStartingServices(() => {
    apt(['update', '-q']);
    apt(['install', '-q', '-y', '--no-install-recommends', ...packages]);
  });
  const still = missing.filter((program) => findProgram(program) === null);
  if (still.length > 0)
    throw new Error(`Installed ${packages.join(', ')}, yet ${still.join(', ')} is missing.`);
}

function apt(args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // stdout carries the test report, so apt-get's own output goes to stderr.
  execFileSync('apt-get', args, { env, stdio: ['ignore', 2, 2] });
}

/** Debian's packages start their service on installation unless a policy script answers 101. */
function withoutStartingServices(work: () => void): void {
  if (existsSync(policyFile)) return work();
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    work();
  } finally {
    rmSync(policyFile, { force: true });
  }
}

function isDebianLike(): boolean {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

function checkVersion(program: Program, atLeast: number): void {
  const path = findProgram(program) ?? program;
  const text = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
  const major = Number(/(?:v=|\) )(\d+)/.exec(text)?.[1]);
  if (!(major >= atLeast)) throw new Error(`${program} ${atLeast} or later is needed; ${path} is: ${text}`);
}
