/** 64 bits of a text (MurmurHash3's mixing of two lanes, Appleby 2011): what identifies a state among millions. */
export function digest(text: string): string {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2_654_435_761);
    two = Math.imul(two ^ code, 1_597_334_677);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(two ^ (two >>> 13), 3_266_489_909);
  two = Math.imul(two ^ (two >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  return `${(two >>> 0).toString(36)}.${(one >>> 0).toString(36)}`;
}

/** Only grows, and is compared by nobody; of passes and transactions only whether they are over: see state-key.ts. */
const leftOut = new Set(['fence', 'pass', 'transaction', 'lanesVersion', 'place', 'counter']);
/** Of a row: the same for all of them, or told by the rest. */
const constant = new Set([
  'lane',
  'queue',
  'name',
  'policies',
  'progress',
  'attempts',
  'createdAt',
  'exclusive',
  'shared',
]);

/** A value as a text, without what makes no difference. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (value instanceof Error) return `${value.name}:${value.message}`;
  let text = '';
  for (const key in value) {
    if (leftOut.has(key) || constant.has(key)) continue;
    const inner = (value as Record<string, unknown>)[key];
    if (inner !== null && typeof inner !== 'function') text += `${key}:${textOf(inner)},`;
  }
  return `{${text}}`;
}

/** A value as a text, with all that is in it. */
export function exactText(value: unknown): string {
  if (typeof value === 'function') throw new Error('A function is no part of a message.');
  if (value === undefined) return 'undefined';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactText).join()}]`;
  if (value instanceof Map || value instanceof Set)
    throw new Error('A message is made of lists and records.');
  let text = value instanceof Error ? `${value.name}:${value.message}` : '';
  for (const key in value) text += `${key}:${exactText((value as Record<string, unknown>)[key])},`;
  return `{${text}}`;
}
