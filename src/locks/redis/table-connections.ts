import type { Logger } from '../../log.js';
import { BlockingConnection } from './blocking-connection.js';
import { Connection } from './connection.js';
import { epochKey, settledChannel } from './keys.js';
import { ScriptRunner } from './script-runner.js';
import { wake } from './scripts/wake.js';
import type { ServerAddress } from './server-url.js';
import { SettledChannel } from './settled-channel.js';
import { WakeWaits } from './wake-waits.js';

export interface TableSettings {
  address: ServerAddress;
  namespace: string;
  commandLimitMs: number;
  log: Logger;
  sourceOf: (script: string) => string;
}

/** The connections of a lock table that was started, and what speaks over them. */
export interface TableConnections {
  main: Connection;
  scripts: ScriptRunner;
  waits: WakeWaits;
  settled: SettledChannel;
  close(): void;
}

/** Nothing connects before it is used. */
export function openConnections(settings: TableSettings): TableConnections {
  const { namespace, commandLimitMs, log } = settings;
  const connection = { ...settings, key: epochKey(namespace) };
  const main = new Connection(connection);
  const scripts = new ScriptRunner(main, namespace, settings.sourceOf);
  const waits = new WakeWaits({
    namespace,
    commandLimitMs,
    open: () => new BlockingConnection(connection, main),
    passOn: (epoch, lane) => scripts.run(wake, epoch, { lane }).catch(() => {}),
  });
  const settled = new SettledChannel({
    channel: settledChannel(namespace),
    main,
    open: () => new Connection(connection),
    log,
  });
  return {
    ...{ main, scripts, waits, settled },
    close: () => {
      waits.stop();
      settled.stop();
      main.close();
    },
  };
}
