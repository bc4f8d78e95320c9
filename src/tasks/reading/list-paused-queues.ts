import type { Store } from '../../store/store.js';
import type { PageOptions } from './page-options.js';
import { refuseUnknownOptions } from '../known-options.js';
import { cutPage, pageOf } from './page-options.js';

export interface PausedQueueView {
  queue: string;
  paused: true;
  pausedAt: string;
}

export interface QueuePage {
  queues: PausedQueueView[];
  next: string | null;
}

/** The queues that are paused, in order of their names. */
export async function listPausedQueues(
  store: Pick<Store, 'pausedQueues'>,
  options: PageOptions = {},
): Promise<QueuePage> {
  refuseUnknownOptions(options, ['limit', 'after'], 'queues.list');
  const { limit, after } = pageOf(options);
  const found = await store.pausedQueues({ after, limit: limit + 1 });
  const { rows, next } = cutPage(found, limit, ({ queue }) => queue);
  return { queues: rows.map(({ queue, pausedAt }) => ({ queue, paused: true, pausedAt })), next };
}
