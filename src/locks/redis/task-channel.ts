import type { Logger } from '../../log.js';
import type { Connection } from './connection.js';

export interface TaskChannelSettings {
  channel: string;
  main: Connection;
  /** Opens the connection for listening, on first use. */
  open: () => Connection;
  log: Logger;
}

type Listener = (tasks: string[]) => void;

const checkEveryMs = 10_000;
const tasksPerMessage = 500;

/** Tells of tasks to all processes that listen, as JSON arrays of task ids on one channel. */
export class TaskChannel {
  readonly #settings: TaskChannelSettings;
  readonly #listeners = new Set<Listener>();
  #connection: Connection | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(settings: TaskChannelSettings) {
    this.#settings = settings;
  }

  async announce(tasks: string[]): Promise<void> {
    const { channel, main } = this.#settings;
    const messages = [];
    for (let start = 0; start < tasks.length; start += tasksPerMessage) {
      messages.push(JSON.stringify(tasks.slice(start, start + tasksPerMessage)));
    }
    // A hint: who waits for a task asks for it again, seldom, when nobody tells.
    await Promise.all(messages.map((text) => main.send('PUBLISH', [channel, text]).catch(() => {})));
  }

  /** Returns what ends it. */
  listen(listener: Listener): () => void {
    const own: Listener = (tasks) => listener(tasks);
    this.#listeners.add(own);
    this.#connection ??= this.#connect();
    return () => void this.#listeners.delete(own);
  }

  stop(): void {
    clearInterval(this.#check);
    this.#listeners.clear();
    this.#connection?.close();
    this.#connection = undefined;
  }

  #connect(): Connection {
    const { channel, open } = this.#settings;
    const connection = open();
    connection.redis.on('ready', () => {
      connection.send('SUBSCRIBE', [channel]).catch(() => connection.redis.disconnect(true));
    });
    connection.redis.on('message', (_channel: string, message: string) => this.#hear(message));
    connection.connected().catch(() => {});
    // Who only listens does not notice a half-open connection; a command does.
    this.#check = setInterval(() => void connection.send('PING', []).catch(() => {}), checkEveryMs);
    return connection;
  }

  #hear(message: string): void {
    const tasks = parseTasks(message);
    if (tasks === null) return;
    for (const listener of this.#listeners) {
      try {
        listener(tasks);
      } catch (error) {
        this.#settings.log.error({ err: error }, 'A listener for announced tasks failed.');
      }
    }
  }
}

/** null for what another program said on our channel. */
function parseTasks(message: string): string[] | null {
  try {
    const tasks: unknown = JSON.parse(message);
    return Array.isArray(tasks) && tasks.every((task) => typeof task === 'string') ? tasks : null;
  } catch {
    return null;
  }
}
