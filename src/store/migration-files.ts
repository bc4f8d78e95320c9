import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  /** The file's name: four digits say where it stands. */
  name: string;
  text: string;
  /** SHA-256 of the text as it is in the file. */
  checksum: string;
}

/** All migrations of this build in order. */
export function migrationFiles(): Migration[] {
  const folder = new URL('./migrations/', import.meta.url);
  const names = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name));
  return names.sort().map((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n');
    return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}
