import { readdirSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { epochKey } from './keys.js';
import { scriptSource } from './script-source.js';

const folder = new URL('./scripts/', import.meta.url);

/** The script files, without those that are only included. */
export function scriptNames(): string[] {
  return readdirSync(folder).flatMap((file) => (file.endsWith('.lua') ? [file.slice(0, -4)] : []));
}

/** Which of the commands that scripts use are writes: what the server says of them. */
export async function writeCommands(redis: Redis): Promise<string[]> {
  const files = [
    ...readdirSync(folder),
    ...readdirSync(new URL('lib/', folder)).map((file) => `lib/${file}`),
  ];
  const texts = files
    .filter((file) => file.endsWith('.lua'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/'([A-Z]{3,})'/g)].map(([, word]) => word!)),
  );
  const infos = (await redis.call('COMMAND', 'INFO', ...used)) as ([string, number, string[]] | null)[];
  return infos.flatMap((info) => (info?.[2].includes('write') ? [info[0].toUpperCase()] : []));
}

/**
 * The text of a script that dies instead of its k-th write, counted from 0, where the key `{namespace}:dies` says k.
 * It stands for whatever may end a script there: an access rule, a key of another type, a bug.
 */
export function dyingSource(writes: readonly string[]): (name: string) => string {
  return (name) => {
    const source = scriptSource(name);
    const endOfFirstLine = source.indexOf('\n') + 1;
    return source.slice(0, endOfFirstLine) + shim(writes) + source.slice(endOfFirstLine);
  };
}

export async function dieAtWrite(redis: Redis, namespace: string, write: number | null): Promise<void> {
  if (write === null) await redis.del(diesKey(namespace));
  else await redis.set(diesKey(namespace), write);
}

function diesKey(namespace: string): string {
  return epochKey(namespace).replace(/epoch$/, 'dies');
}

function shim(writes: readonly string[]): string {
  return `
local living, is_write = redis, {}
for name in string.gmatch('${writes.join(' ')}', '%u+') do is_write[name] = true end
local writes_left = tonumber(living.call('GET', string.sub(KEYS[1], 1, -6) .. 'dies') or nil)
local redis = { call = function(command, ...)
  if writes_left and is_write[command] then
    if writes_left == 0 then error('this script was made to die') end
    writes_left = writes_left - 1
  end
  return living.call(command, ...)
end }
`;
}
