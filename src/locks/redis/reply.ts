/** What a script answers: a status word, then whatever it says in its header. */
export type Reply = unknown[];

export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw unexpected('a string', value);
}

/** nil and the empty string both stand for nothing. */
export function asTextOrNull(value: unknown): string | null {
  return value === null || value === undefined || value === '' ? null : asText(value);
}

export function asNumber(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw unexpected('a whole number', value);
}

export function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw unexpected('a list', value);
}

export function asTexts(value: unknown): string[] {
  return asList(value).map(asText);
}

/** One of these words. */
export function asWord<const W extends string>(value: unknown, words: readonly W[]): W {
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  throw unexpected(words.join(' or '), value);
}

/** The list cut into rows of `width` fields each. */
export function rowsOf(list: readonly unknown[], width: number): unknown[][] {
  const rows: unknown[][] = [];
  for (let start = 0; start < list.length; start += width) rows.push(list.slice(start, start + width));
  return rows;
}

function unexpected(expected: string, got: unknown): Error {
  return new Error(`A script answered ${JSON.stringify(got)} where ${expected} was expected.`);
}
