import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { holdfast, taskFile } from './run-holdfast.js';

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return address.port;
}

describe('a service that cannot be reached', () => {
  it.each([
    ['tasks list'],
    ['migrate'],
    ['dispatch x'],
    [`worker --tasks ${taskFile}`],
    [`serve --workers 1 --tasks ${taskFile}`],
    ['demo --once'],
  ])('makes "%s" exit 3, with nothing on stdout', async (line) => {
    const port = await closedPort();
    const env = {
      HOLDFAST_DATABASE_URL: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
      HOLDFAST_REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    const { status, stdout, stderr } = await holdfast([...line.split(' '), '--json'], { env });
    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
    expect(stderr).toMatch(/^Unavailable: .*\n.*try again\.\n$/m);
    expect(stderr).not.toMatch(/secret|\n {4}at /);
  });
});
