import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TaskDefinition } from './definition.js';
import { InvalidTask } from '../errors.js';
import { isTaskDefinition } from './definition.js';
import { shown } from '../shown.js';

const extensions = ['.js', '.mjs', '.cjs'];

/**
 * Imports task files and collects every definition that they export: by name, as the default export, or in an
 * exported array. A folder stands for the .js, .mjs and .cjs files directly in it, in order of their names;
 * those without a definition are passed over there. Throws InvalidTask, naming the file, where one cannot be
 * read or imported, where nothing is found, or where two definitions have one name.
 */
export async function loadTaskFiles(paths: readonly string[]): Promise<TaskDefinition[]> {
  const found = new Map<string, { definition: TaskDefinition; file: string }>();
  for (const path of paths) {
    let count = 0;
    for (const file of await filesOf(path)) {
      const definitions = definitionsIn(await importFile(file));
      count += definitions.length;
      for (const definition of definitions) add(found, definition, file);
    }
    if (count === 0) throw new InvalidTask(`${path} exports no task. Export what defineTask returns.`);
  }
  return [...found.values()].map(({ definition }) => definition);
}

async function filesOf(path: string): Promise<string[]> {
  const absolute = resolve(path);
  try {
    if (!(await stat(absolute)).isDirectory()) {
      if (extensions.includes(extname(absolute))) return [absolute];
      throw new InvalidTask(
        `${path} is not a .js, .mjs or .cjs file. Compile task files to JavaScript first.`,
      );
    }
    const entries = await readdir(absolute, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && extensions.includes(extname(entry.name)));
    return files.map((entry) => join(absolute, entry.name)).sort();
  } catch (error) {
    if (error instanceof InvalidTask) throw error;
    throw new InvalidTask(`The task file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    const where = error instanceof SyntaxError ? placeOf(error) : '';
    throw new InvalidTask(`The task file ${file} cannot be imported: ${messageOf(error)}${where}`, {
      cause: error,
    });
  }
}

/** A CommonJS file shows its exports once more as the properties of its default export. */
function definitionsIn(exports: Record<string, unknown>): TaskDefinition[] {
  const { default: main } = exports;
  const inner = isPlainObject(main) && !isTaskDefinition(main) ? Object.values(main) : [];
  const definitions = [...Object.values(exports), ...inner].flat(1).filter(isTaskDefinition);
  return [...new Set(definitions)];
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function add(
  found: Map<string, { definition: TaskDefinition; file: string }>,
  definition: TaskDefinition,
  file: string,
): void {
  const earlier = found.get(definition.name);
  if (earlier !== undefined && earlier.definition !== definition) {
    throw new InvalidTask(
      `Two definitions have the name ${JSON.stringify(definition.name)}: in ${earlier.file} and in ${file}.`,
    );
  }
  found.set(definition.name, { definition, file });
}

/** The stack of a SyntaxError begins with the file and the line. */
function placeOf(error: SyntaxError): string {
  const [place = ''] = /^(?:file:\/\/)?\/\S+:\d+$/m.exec(error.stack ?? '') ?? [];
  return place === '' ? '' : ` (${place})`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error);
}
