import type { Logger } from '../../log.js';
import { BlockingConnection } from './blocking-connection.js';
import { Connection } from './connection.js';
import { cancelingChannel, epochKey, settledChannel } from './keys.js';
import { ScriptRunner } from './script-runner.js';
import { wake } from './scripts/wake.js';
import type { ServerAddress } from './server-url.js';
import { TaskChannel } from './task-channel.js';
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
  settled: TaskChannel;
  canceling: TaskChannel;
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
  const listening = { main, open: (): Connection => new Connection(connection), log };
  const settled = new TaskChannel({ channel: settledChannel(namespace), ...listening });
  const canceling = new TaskChannel({ channel: cancelingChannel(namespace), ...listening });
  return {
    ...{ main, scripts, waits, settled, canceling },
    close: () => {
      waits.stop();
      settled.stop();
      canceling.stop();
      main.close();
    },
  };
}
