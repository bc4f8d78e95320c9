import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  /** The file's name: four digits say where it stands. */
  name: string;
  text: string;
  /** SHA-256 of the text as it is in the file. */
  checksum: string;
  /** Takes away what the version before still uses; others only add, and that version works with them. */
  contracts: boolean;
}

/** The first line of a migration that contracts begins so, and says what it takes away. */
const contractsMark = '-- Contracts: ';

/** All migrations of this build in order. */
export function migrationFiles(): Migration[] {
  const folder = new URL('./migrations/', import.meta.url);
  const names = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name));
  return names.sort().map((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(text).digest('hex');
    return { name, text, checksum, contracts: text.startsWith(contractsMark) };
  });
}
