import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asList, asNumber, asText, asTexts, asWord, rowsOf } from '../locks/redis/reply.js';
import { activeOwnersKey, registryKey } from './keys.js';

/** A script of scripts/, for one call. */
export interface ScriptCall<Answer> {
  script: LoadedScript;
  keys: string[];
  argv: string[];
  decode(reply: unknown): Answer;
}

export interface LoadedScript {
  name: string;
  source: string;
  sha: string;
}

/** To change nothing, and tell what would be changed. */
export type Mode = 'release' | 'look';

const findings = ['held', 'gone', 'retaken', 'unexpected'] as const;

/** What became of one lock, as scripts/release-locks.lua says; `type` is that of its key. */
export interface LockFinding {
  key: string;
  finding: (typeof findings)[number];
  type: string;
}

/** What one call carries at most: it keeps the script short of 50 ms by far. */
const locksPerCall = 250;

export function inParts(locks: string[]): string[][] {
  const count = Math.ceil(locks.length / locksPerCall);
  return Array.from({ length: count }, (_, at) => locks.slice(at * locksPerCall, (at + 1) * locksPerCall));
}

const releaseLocksScript = load('release-locks');
const dropOwnerScript = load('drop-owner');
const readHoldersScript = load('read-holders');

export function releaseLocks(owner: string, locks: string[], mode: Mode): ScriptCall<LockFinding[]> {
  return {
    script: releaseLocksScript,
    keys: [registryKey(owner), ...locks],
    argv: [owner, mode],
    decode: (reply) =>
      rowsOf(asList(reply), 2).map(([finding, type], at) => ({
        key: asText(locks[at]),
        finding: asWord(finding, findings),
        type: asText(type),
      })),
  };
}

/** Whether the owner was listed and is not any more. */
export function dropOwner(owner: string, mode: Mode): ScriptCall<boolean> {
  return {
    script: dropOwnerScript,
    keys: [registryKey(owner), activeOwnersKey],
    argv: [owner, mode],
    decode: (reply) => asNumber(reply) === 1,
  };
}

/** The holders of each lock; null where they are too many for one call. */
export function readHolders(locks: string[]): ScriptCall<(string[] | null)[]> {
  return {
    script: readHoldersScript,
    keys: locks,
    argv: [],
    decode: (reply) => asList(reply).map((holders) => (holders === 'many' ? null : asTexts(holders))),
  };
}

function load(name: string): LoadedScript {
  const source = readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
