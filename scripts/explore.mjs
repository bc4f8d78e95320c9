// Bundles the explorer of test/model with the sources that it drives, and runs it: `npm run explore -- --help`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist/model');
mkdirSync(folder, { recursive: true });
let bundles = 0;

/** Made of the sources as they are, or with one text in one of them replaced. */
async function bundle(entry, mutant) {
  const file = join(folder, `${process.pid}-${(bundles += 1)}.mjs`);
  let replaced = 0;
  const mutate = {
    name: 'mutate',
    transform(code, id) {
      if (mutant === undefined || !id.endsWith(`/src/${mutant.file}`)) return null;
      replaced += code.split(mutant.from).length - 1;
      return { code: code.replace(mutant.from, () => mutant.to), map: null };
    },
  };
  const build = await rolldown({
    input: join(root, 'test/model', entry),
    platform: 'node',
    external: /^[^./]/,
    logLevel: 'silent',
    plugins: [mutate],
  });
  await build.write({ file });
  if (mutant !== undefined && replaced !== 1) {
    throw new Error(`${mutant.file} has the text of the mutant ${replaced} times.`);
  }
  return import(file);
}

const { main } = await bundle('main.ts');
process.exitCode = await main(process.argv.slice(2), (mutant) => bundle('walk.ts', mutant));
