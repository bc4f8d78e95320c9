import type { Pulp } from './open-pulp.js';
import { lastScanKey, lockPattern, resourceOfKey, scanPauseSeconds, taskOfKey } from './keys.js';
import { inParts, readHolders } from './scripts.js';

/** The locks of one owner that a scan has found, by key. */
export interface ScannedOwner {
  tasks: string[];
  resources: string[];
}

export type ScanState = 'not-yet' | 'done' | 'throttled';

/**
 * The permission to look for locks that are in no registry, as older versions of pulpcore left them, by going over
 * the whole keyspace: once at most, and not where anybody in the fleet has done so within the last 15 minutes.
 */
export class LegacyScan {
  readonly #pulp: Pulp;
  readonly #wants: (owner: string) => boolean;
  #scanning: Promise<Map<string, ScannedOwner> | null> | null = null;
  #state: ScanState = 'not-yet';
  #pauseMs: number | null = null;

  /** It keeps the locks of those owners alone that it `wants`, and so can stand beside any number of others. */
  constructor(pulp: Pulp, wants: (owner: string) => boolean) {
    this.#pulp = pulp;
    this.#wants = wants;
  }

  get state(): ScanState {
    return this.#state;
  }

  /** Where it is throttled: until another scan is allowed, in milliseconds; infinity where the mark never expires. */
  get pauseMs(): number | null {
    return this.#pauseMs;
  }

  /** What it finds, or has found; null where it may not scan now. */
  owners(): Promise<Map<string, ScannedOwner> | null> {
    this.#scanning ??= this.#scanUnlessThrottled();
    return this.#scanning;
  }

  async #scanUnlessThrottled(): Promise<Map<string, ScannedOwner> | null> {
    if (!(await this.#mayScan())) {
      this.#state = 'throttled';
      return null;
    }
    const owners = await this.#scan();
    this.#state = 'done';
    return owners;
  }

  /** Who only looks writes nothing, the mark included: it heeds the mark of others. */
  async #mayScan(): Promise<boolean> {
    const { redis, mode } = this.#pulp;
    if (
      mode === 'release' &&
      (await redis.setUnlessThere(lastScanKey, await redis.now(), scanPauseSeconds))
    ) {
      return true;
    }
    this.#pauseMs = await redis.expiryOf(lastScanKey);
    return mode === 'look' && this.#pauseMs === null;
  }

  async #scan(): Promise<Map<string, ScannedOwner>> {
    const owners = new Map<string, ScannedOwner>();
    const seen = new Set<string>();
    for await (const keys of this.#pulp.redis.scanKeys(lockPattern)) {
      const locks = keys.filter((key) => taskOfKey(key) !== null || resourceOfKey(key) !== null);
      for await (const [key, holders] of this.#holdersOf(locks)) {
        const wanted = holders.filter(this.#wants);
        if (wanted.length === 0 || seen.has(key)) continue;
        seen.add(key);
        for (const owner of wanted) add(owners, owner, key);
      }
    }
    return owners;
  }

  async *#holdersOf(locks: string[]): AsyncGenerator<[key: string, holders: string[]]> {
    for (const part of inParts(locks)) {
      const holders = await this.#pulp.redis.run(readHolders(part));
      for (const [at, key] of part.entries()) yield [key, holders[at] ?? (await this.#manyHoldersOf(key))];
    }
  }

  async #manyHoldersOf(key: string): Promise<string[]> {
    const holders: string[] = [];
    for await (const members of this.#pulp.redis.membersOf(key)) holders.push(...members);
    return holders;
  }
}

function add(owners: Map<string, ScannedOwner>, owner: string, key: string): void {
  let found = owners.get(owner);
  if (found === undefined) owners.set(owner, (found = { tasks: [], resources: [] }));
  (taskOfKey(key) === null ? found.resources : found.tasks).push(key);
}
