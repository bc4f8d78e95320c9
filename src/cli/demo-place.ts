import type { Backend } from '../holdfast/backend.js';
import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import type { MirrorDemo } from './mirror-demo.js';
import type { LogLevel } from './logger.js';
import { placeOptions } from './with-holdfast.js';

/** A Holdfast with what is below it, which only a demo that makes an orphan has a use for. */
export interface DemoPlace {
  hf: Holdfast;
  backend: Backend;
}

/** Connects as `openHoldfast` does, and brings the schema up to date. */
export async function openDemoPlace(
  global: GlobalOptions,
  { tasks }: MirrorDemo,
  level: LogLevel,
): Promise<DemoPlace> {
  const { resolveConfiguration } = await import('../configuration.js');
  const { checkDefinitions } = await import('../holdfast/check-definitions.js');
  const { HoldfastInProcess } = await import('../holdfast/holdfast-in-process.js');
  const { openBackend } = await import('../holdfast/open-backend.js');
  const { createLogger } = await import('./logger.js');
  const log = await createLogger(global.verbose === true ? 'debug' : level);
  const backend = await openBackend(resolveConfiguration(placeOptions(global), process.env), log);
  const hf = new HoldfastInProcess({ backend, loaded: checkDefinitions(tasks), log });
  try {
    await hf.migrate();
  } catch (error) {
    await hf.close();
    throw error;
  }
  return { hf, backend };
}
