import type { TaskDefinition } from 'holdfast';
import { gc, publish, sync } from './tasks.js';

export { deathInMirror, runningInMirror } from './mirror-processes.js';
export { prepareMirror } from './prepare-mirror.js';
export { runMirror } from './run-mirror.js';

/** What a worker must know to run the mirror. */
export const tasks: TaskDefinition[] = [sync, gc, publish] as TaskDefinition[];
