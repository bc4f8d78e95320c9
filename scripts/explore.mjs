// Bundles the explorer of test/model with the sources that it drives, and runs it: `npm run explore -- --help`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist/model');
mkdirSync(folder, { recursive: true });
let bundles = 0;

/** Made of the sources as they are, or with some texts of them replaced. */
async function bundle(entry, edits = []) {
  const file = join(folder, `${process.pid}-${(bundles += 1)}.mjs`);
  const found = edits.map(() => 0);
  const mutate = {
    name: 'mutate',
    transform(code, id) {
      let changed = code;
      for (const [index, { file: edited, from, to }] of edits.entries()) {
        if (!id.endsWith(`/src/${edited}`)) continue;
        found[index] += changed.split(from).length - 1;
        changed = changed.replace(from, () => to);
      }
      return changed === code ? null : { code: changed, map: null };
    },
  };
  const build = await rolldown({
    input: join(root, 'test/model', entry),
    platform: 'node',
    // What processes make is called by the order in which each made it.
    external: /^(?!uuid$)[^./]/,
    resolve: { alias: { uuid: join(root, 'test/model/own-ids.ts') } },
    logLevel: 'silent',
    plugins: [mutate],
  });
  await build.write({ file });
  for (const [index, times] of found.entries()) {
    if (times !== 1) throw new Error(`${edits[index].file} has the text of the mutant ${times} times.`);
  }
  return import(file);
}

const { main } = await bundle('main.ts');
process.exitCode = await main(process.argv.slice(2), (edits) => bundle('walk.ts', edits));
