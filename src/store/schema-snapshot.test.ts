import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStore, type OpenStore } from '../../test/store/open-store.js';

let opened: OpenStore;
beforeAll(async () => {
  opened = await openPostgresStore();
});
afterAll(() => opened.close());

const relations = `
  SELECT c.relkind::text || ' ' || c.relname || coalesce(' with ' || array_to_string(c.reloptions, ', '), '') AS line
  FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v', 'S')`;
const columns = `
  SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
    CASE WHEN a.attnotnull THEN ' not null' ELSE '' END ||
    CASE WHEN a.attidentity <> '' THEN ' identity' ELSE '' END ||
    CASE WHEN a.attgenerated <> '' THEN ' generated' ELSE '' END ||
    CASE WHEN a.attcollation = '"C"'::regcollation THEN ' collate C' ELSE '' END ||
    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'v') ORDER BY c.relname COLLATE "C", a.attnum`;
const constraints = `
  SELECT c.relname || '.' || k.conname || ' ' || pg_get_constraintdef(k.oid) AS line
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
  WHERE c.relnamespace = $1::regnamespace AND k.contype <> 'n'`;
const indexes = `
  SELECT pg_get_indexdef(i.indexrelid) AS line FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = $1::regnamespace`;
const functions = `
  SELECT p.oid::regprocedure || ' returns ' || pg_get_function_result(p.oid) || ' ' || p.provolatile::text ||
    coalesce(' set ' || array_to_string(p.proconfig, ', '), '') AS line, pg_get_functiondef(p.oid) AS source
  FROM pg_proc p WHERE p.pronamespace = $1::regnamespace`;

test('the schema is the one of the snapshot', async () => {
  const { database, namespace } = opened;
  const named = (text: string): string =>
    text.replaceAll(namespace, 'holdfast').replaceAll('"holdfast"', 'holdfast');
  const sections: string[] = [];
  for (const [title, text] of Object.entries({ relations, columns, constraints, indexes, functions })) {
    const { rows } = await database.query<{ line: string; source?: string }>(text, [namespace]);
    const lines = rows.map(({ line, source }) => {
      if (source === undefined) return named(line);
      return `${named(line)} sha256 ${createHash('sha256').update(named(source)).digest('hex').slice(0, 12)}`;
    });
    sections.push(`# ${title}`, ...(title === 'columns' ? lines : lines.sort()), '');
  }
  await expect(sections.join('\n')).toMatchFileSnapshot('schema.snapshot.txt');
});
