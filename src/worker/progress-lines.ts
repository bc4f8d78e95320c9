import { maxJsonBytes, storableJson } from '../tasks/storable-json.js';

/** The most lines of progress that one attempt keeps; the oldest go first. */
export const maxProgressLines = 100;

interface Line {
  name: string | null;
  value: unknown;
  bytes: number;
}

/** The progress of one attempt: at most 100 lines and 1 MiB of JSON in all; the oldest lines go first. */
export class ProgressLines {
  #lines: Line[] = [];

  get values(): unknown[] {
    return this.#lines.map((line) => line.value);
  }

  /**
   * An object with a `name` replaces the line of that name; everything else is added at the end. Throws
   * InvalidTask for what JSON cannot carry, PayloadTooLarge beyond 1 MiB.
   */
  add(update: unknown): void {
    const text = storableJson(update, 'Progress');
    // A copy: the handler may go on changing its object.
    const line: Line = { name: nameOf(update), value: JSON.parse(text), bytes: Buffer.byteLength(text) };
    const earlier = line.name === null ? -1 : this.#lines.findIndex(({ name }) => name === line.name);
    if (earlier >= 0) this.#lines[earlier] = line;
    else this.#lines.push(line);
    while (this.#lines.length > maxProgressLines || this.#bytes() > maxJsonBytes) this.#lines.shift();
  }

  #bytes(): number {
    return this.#lines.reduce((sum, line) => sum + line.bytes, 0);
  }
}

function nameOf(update: unknown): string | null {
  if (typeof update !== 'object' || update === null) return null;
  const { name } = update as { name?: unknown };
  return typeof name === 'string' ? name : null;
}
