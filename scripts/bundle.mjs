// Joins the compiled modules of dist/ into a few files, since Node takes a millisecond or two for each module that it
// loads, and a command needs hundreds. What a process or thread starts from stays where it is; what several of them share is in
// dist/chunks. The single modules stay beside them for tests, and are not packed.
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** What `exports`, `bin`, threads and processes start from. */
const entries = [
  'index',
  'cli/main',
  'cli/demo-crash-main',
  'worker/child-main',
  'worker/heartbeat-thread',
  'worker/watchdog-thread',
];

/** Files are found by the URL of the module that names them, also when that module has moved into another file. */
const originalUrls = {
  name: 'original-urls',
  transform(code, id) {
    const path = JSON.stringify(relative(dist, id).replaceAll('\\', '/'));
    return { code: code.replaceAll('import.meta.url', `__urlOf(${path})`), map: null };
  },
  renderChunk(code, { fileName }) {
    const moved = code.replaceAll(/__urlOf\("([^"]+)"\)/g, (_, path) => {
      const from = relative(dirname(fileName), path).replaceAll('\\', '/');
      return `new URL(${JSON.stringify(from)}, import.meta.url).href`;
    });
    return { code: moved, map: null };
  },
};

export async function bundle() {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(dist, `${entry}.js`)])),
    platform: 'node',
    external: /^[^./]/,
    plugins: [originalUrls],
  });
  await build.write({ dir: dist, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
}
