import type { RedisOptions } from 'ioredis';
import { NotConfigured, Unavailable } from '../../errors.js';
import { silentLogger, type Logger } from '../../log.js';
import { checkNamespace } from '../../namespace.js';
import { ownerText, type Owner } from '../../owner.js';
import { checkHold, checkMove } from '../check-hold.js';
import { countResources } from '../chunks.js';
import { holdsOfTexts, holdText, type HoldName } from '../hold-text.js';
import type * as port from '../lock-table.js';
import type * as audit from '../table-audit.js';
import { checkServer } from './check-server.js';
import { claimInCalls } from './claim-in-calls.js';
import { findLanes, scanNames } from './find-names.js';
import { findOwners } from './find-owners.js';
import { inCalls } from './in-calls.js';
import { turnKey } from './keys.js';
import { readRegistry } from './read-registry.js';
import { openConnections, type TableConnections, type TableSettings } from './table-connections.js';
import { scriptSource } from './script-source.js';
import type { Script } from './script-runner.js';
import { claim } from './scripts/claim.js';
import { continuePromotions } from './scripts/continue-promotions.js';
import { enterBuilding } from './scripts/enter-building.js';
import { enterNow } from './scripts/enter-now.js';
import { enter } from './scripts/enter.js';
import { beginEpoch, openEpoch, readEpoch } from './scripts/epochs.js';
import { examineHolds, findFaults, mendFaults, registerHolds } from './scripts/faults.js';
import { inspectHold } from './scripts/inspect-hold.js';
import { inspectLocks } from './scripts/inspect-locks.js';
import { move } from './scripts/move.js';
import * as owners from './scripts/owners.js';
import { release } from './scripts/release.js';
import { takeOut } from './scripts/take-out.js';
import { wake } from './scripts/wake.js';
import { addressOfOptions, parseServerUrl } from './server-url.js';
import { isSilence } from './unavailable.js';
import { unlinkEpochs } from './unlink-epochs.js';

export interface RedisLockTableOptions {
  /** One of the forms of server-url.ts. Either this or `options`. */
  url?: string;
  /** Plain options of ioredis: host and port, or `sentinels` and `name`. */
  options?: RedisOptions;
  namespace: string;
  /** How many waiters one call promotes at most. Default 250. */
  promotionLimit?: number;
  /** How long one command may take, in milliseconds, before it counts as unanswered. Default 2,000. */
  commandLimitMs?: number;
  log?: Logger;
  /** For tests: another text for a script. */
  sourceOf?: (script: string) => string;
}

const defaultPromotionLimit = 250;
const defaultCommandLimitMs = 2_000;
/** Of a server that can be reached, but is too busy to answer in time, as when a whole fleet starts. */
const startAttempts = 4;
const noWeight = (): number => 0;

/** The lock table in Redis, standalone, behind Sentinels or in a Cluster. Throws NotConfigured. */
export function createRedisLockTable(options: RedisLockTableOptions): port.LockTable {
  return new RedisLockTable(options);
}

class RedisLockTable implements port.LockTable {
  readonly kind = 'redis';
  readonly address: string;
  readonly #settings: TableSettings;
  readonly #promotionLimit: number;
  #opening: Promise<TableConnections> | undefined;
  #open: TableConnections | undefined;
  #connecting: TableConnections | undefined;

  constructor({ url, options, namespace, ...given }: RedisLockTableOptions) {
    if ((url === undefined) === (options === undefined)) {
      throw new NotConfigured('The lock table needs a Redis URL, or options of ioredis, and not both.');
    }
    const address = url === undefined ? addressOfOptions(options ?? {}) : parseServerUrl(url);
    this.address = address.text;
    this.#promotionLimit = given.promotionLimit ?? defaultPromotionLimit;
    this.#settings = {
      address,
      namespace: checkNamespace(namespace),
      commandLimitMs: given.commandLimitMs ?? defaultCommandLimitMs,
      log: given.log ?? silentLogger,
      sourceOf: given.sourceOf ?? scriptSource,
    };
  }

  async start(): Promise<void> {
    this.#opening ??= this.#connect();
    try {
      this.#open = await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async stop(): Promise<void> {
    // One that is being opened fails: nobody waits for a server that does not answer.
    this.#connecting?.close();
    const open = this.#open ?? (await this.#opening?.catch(() => undefined));
    this.#open = undefined;
    this.#opening = undefined;
    open?.close();
  }

  async readEpoch(): Promise<port.EpochRecord | null> {
    return this.#run(readEpoch, '0', null);
  }

  async beginEpoch(epoch: string, format: number): Promise<'begun' | 'not-newer'> {
    return this.#run(beginEpoch, epoch, { format });
  }

  async enterBuilding(epoch: string, holds: port.BuildingHold[]): Promise<port.BuildingAnswer[]> {
    return this.#batch(holds.map(checkHold), countResources, (some, promotionLimit) =>
      this.#run(enterBuilding, epoch, { promotionLimit, holds: some }),
    );
  }

  async openEpoch(epoch: string): Promise<'opened' | 'not-building'> {
    return this.#run(openEpoch, epoch, null);
  }

  async unlinkEpochsBefore(epoch: string): Promise<number> {
    const record = await this.readEpoch();
    const [given, current] = [BigInt(epoch), BigInt(record?.epoch ?? epoch)];
    return unlinkEpochs(this.#opened().main, this.#settings.namespace, given < current ? given : current);
  }

  async enter(
    epoch: string,
    pass: string,
    holds: port.EnteringHold[],
  ): Promise<port.EnterAnswer[] | 'older-pass'> {
    return this.#batch(holds.map(checkHold), countResources, (some, promotionLimit) =>
      this.#run(enter, epoch, { promotionLimit, pass, holds: some }),
    );
  }

  async enterNow(
    epoch: string,
    owner: Owner,
    holds: port.EnteringHold[],
  ): Promise<port.EnterNowAnswer[] | 'unlisted'> {
    return this.#batch(holds.map(checkHold), countResources, (some) =>
      this.#run(enterNow, epoch, { owner: ownerText(owner), holds: some }),
    );
  }

  async claim(epoch: string, request: port.ClaimRequest): Promise<port.ClaimAnswer | 'unlisted'> {
    const { lanes, lanesVersion } = request;
    const [promotionLimit, owner] = [this.#promotionLimit, ownerText(request.owner)];
    return claimInCalls(request.limit, (limit) =>
      this.#run(claim, epoch, { promotionLimit, owner, limit, lanes, lanesVersion }),
    );
  }

  async move(epoch: string, moves: port.Move[]): Promise<port.MoveAnswer[]> {
    moves.forEach(checkMove);
    return this.#batch(moves, noWeight, (some, promotionLimit) =>
      this.#run(move, epoch, { promotionLimit, moves: some }),
    );
  }

  async release(epoch: string, holds: port.OwnedHold[]): Promise<port.ReleaseAnswer[]> {
    return this.#batch(holds, noWeight, (some, promotionLimit) =>
      this.#run(release, epoch, { promotionLimit, holds: some }),
    );
  }

  async takeOut(
    epoch: string,
    holds: { task: string; entry: number }[],
    pass = '0',
  ): Promise<port.TakeOutAnswer[]> {
    return this.#batch(holds, noWeight, (some, promotionLimit) =>
      this.#run(takeOut, epoch, { promotionLimit, pass, holds: some }),
    );
  }

  async continuePromotions(epoch: string): Promise<number> {
    return this.#run(continuePromotions, epoch, { promotionLimit: this.#promotionLimit });
  }

  async listOwner(epoch: string, owner: Owner): Promise<void> {
    return this.#run(owners.listOwner, epoch, { owner: ownerText(owner) });
  }

  async unlistOwner(epoch: string, owner: Owner): Promise<'unlisted' | 'still-holds'> {
    return this.#run(owners.unlistOwner, epoch, { owner: ownerText(owner) });
  }

  async findOwners(epoch: string, find: port.FindOwners): Promise<Owner[]> {
    return findOwners((range) => this.#run(owners.findOwners, epoch, range), find);
  }

  async readRegistry(epoch: string, owner: Owner, page: port.Page): Promise<port.RegistryEntry[]> {
    return readRegistry((range) => this.#run(owners.readRegistry, epoch, range), owner, page);
  }

  async inspectLocks(epoch: string, resources: string[], waitersEach: number): Promise<port.LockView[]> {
    return this.#batch(resources, noWeight, (some) =>
      this.#run(inspectLocks, epoch, { resources: some, waitersEach }),
    );
  }

  async inspectHold(epoch: string, task: string): Promise<port.HoldView | null> {
    return this.#run(inspectHold, epoch, { task });
  }

  async findNames(
    epoch: string,
    { of, cursor }: { of: 'lanes' | 'all'; cursor: string | null },
  ): Promise<audit.NamePage> {
    const { main } = this.#opened();
    const { namespace } = this.#settings;
    return of === 'lanes' ? findLanes(main, namespace, epoch) : scanNames(main, namespace, epoch, cursor);
  }

  async examineHolds(epoch: string, tasks: string[]): Promise<audit.ExaminedHold[]> {
    return this.#batch(tasks, noWeight, (some) => this.#run(examineHolds, epoch, { tasks: some }));
  }

  async findFaults(
    epoch: string,
    of: audit.FaultPlace & { cursor: string | null },
  ): Promise<audit.FaultPage> {
    return this.#run(findFaults, epoch, of);
  }

  async mendFaults(epoch: string, faults: audit.TableFault[]): Promise<audit.MendAnswer[]> {
    return this.#batch(faults, noWeight, (some, promotionLimit) =>
      this.#run(mendFaults, epoch, { promotionLimit, faults: some }),
    );
  }

  async registerHolds(epoch: string, holds: port.OwnedHold[]): Promise<audit.RegisterAnswer[]> {
    return this.#batch(holds, noWeight, (some) => this.#run(registerHolds, epoch, { holds: some }));
  }

  async takeTurn(turn: string, taker: string, forMs: number): Promise<boolean> {
    const key = turnKey(this.#settings.namespace, turn);
    const taken = await this.#opened().main.sendOrUnavailable('SET', [key, taker, 'NX', 'PX', forMs]);
    return taken === 'OK';
  }

  async wakeAdmission(): Promise<void> {
    await this.#open?.scripts.run(wake, '0', { lane: null }).catch(() => {});
  }

  async waitForWake(
    epoch: string,
    lanes: string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<port.Wake> {
    return this.#open ? this.#open.waits.wait(epoch, lanes, timeoutMs, signal) : 'timeout';
  }

  async announceSettled(tasks: string[]): Promise<void> {
    await this.#open?.settled.announce(tasks);
  }

  onSettled(listener: (tasks: string[]) => void): () => void {
    return this.#opened().settled.listen(listener);
  }

  async announceCanceling(holds: HoldName[]): Promise<void> {
    await this.#open?.canceling.announce(holds.map(holdText));
  }

  onCanceling(listener: (holds: HoldName[]) => void): () => void {
    return this.#opened().canceling.listen((texts) => listener(holdsOfTexts(texts)));
  }

  async #connect(): Promise<TableConnections> {
    const open = openConnections(this.#settings);
    this.#connecting = open;
    try {
      for (let attempt = 1; ; attempt++) {
        await open.main.connectedPatiently();
        try {
          await checkServer(open.main, open.scripts, this.#settings.address.kind);
          return open;
        } catch (error) {
          if (!isSilence(error) || attempt === startAttempts) throw error;
        }
      }
    } catch (error) {
      open.close();
      throw error;
    }
  }

  #opened(): TableConnections {
    if (this.#open) return this.#open;
    throw new Unavailable('The lock table is not started, or was stopped.');
  }

  async #run<G, A>(script: Script<G, A>, epoch: string, given: G): Promise<A> {
    return this.#opened().scripts.run(script, epoch, given);
  }

  async #batch<T, R extends unknown[] | string>(
    items: readonly T[],
    weightOf: (item: T) => number,
    run: (chunk: T[], promotionLimit: number) => Promise<R>,
  ): Promise<R> {
    return inCalls(items, weightOf, (chunk) => run(chunk, this.#promotionLimit));
  }
}
