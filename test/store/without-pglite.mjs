// Prints what opening PGlite throws in a process that does not find its package.
import { register } from 'node:module';

const hook = `export async function resolve(specifier, context, next) {
  return next(specifier.startsWith('@electric-sql/') ? '@electric-sql/not-installed' : specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { createPgliteDatabase } = await import('../../dist/store/pglite-database.js');
try {
  await createPgliteDatabase({ dataDir: 'memory://' });
} catch (error) {
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }));
}
