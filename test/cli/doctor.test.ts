import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditReport } from '../../src/index.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl } from '../helpers/servers.js';
import { damage } from '../worker/damage.js';
import { serverPlace, type Place } from '../worker/place.js';
import { holdfastHere, holdfastJsonHere } from './run-here.js';

let place: Place;
let env: Record<string, string>;
beforeAll(async () => {
  place = await serverPlace();
  env = {
    HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
    HOLDFAST_REDIS_URL: sharedRedisUrl(),
    HOLDFAST_NAMESPACE: place.namespace,
  };
});
afterAll(async () => {
  await place.close();
  await dropNamespace(place.namespace);
});

test('holdfast doctor says that nothing is left where nobody has worked yet', async () => {
  expect(await holdfastHere(['doctor'], env)).toEqual({ status: 0, stdout: '0 unexplained\n', stderr: '' });
});

test('holdfast doctor exits 1 for what it finds, tells whether it is mended, and then finds nothing', async () => {
  await place.dispatcher.dispatch('nobody', null, { exclusive: ['R'] });
  await damage(place, { lock: 'R', of: 'gone' });
  const found = await holdfastHere(['doctor'], env);
  expect(found.status).toBe(1);
  expect(found.stdout).toMatch(/lock-without-hold +gone +R .*no\n1 unexplained\n$/);
  const mended = (await holdfastJsonHere(['doctor', '--repair', '--deep'], env)) as AuditReport;
  expect(mended).toEqual({
    ok: false,
    unexplained: 1,
    findings: [
      {
        ...{ kind: 'lock-without-hold', task: 'gone', entry: null, resource: 'R', lane: null },
        ...{ owner: null, since: null, repaired: true },
      },
    ],
  });
  const ok = { ok: true, unexplained: 0, findings: [] };
  expect(await holdfastJsonHere(['doctor', '--deep'], env)).toEqual(ok);
});

test('holdfast doctor refuses what it does not know', async () => {
  expect((await holdfastHere(['doctor', '--fix'], env)).status).toBe(2);
});
