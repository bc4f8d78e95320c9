import type { RedisOptions } from 'ioredis';
import { NotConfigured } from '../../errors.js';

/**
 * Where the lock table is. Four forms, and `rediss` in place of `redis` in each of them speaks TLS to the servers:
 *
 * - `redis://[[user]:password@]host[:6379][/db]`
 * - `rediss://[[user]:password@]host[:6379][/db]`
 * - `redis+sentinel://[[user]:password@]host1[:26379],host2[:26379]/masterName[/db]`: the hosts are Sentinels, the
 *   password is that of the Redis servers
 * - `redis+cluster://[[user]:password@]host1[:6379],host2[:6379]`: some nodes of a Cluster, which tell the others
 *
 * User names and passwords are percent-encoded, IPv6 addresses stand in brackets.
 */
export interface ServerAddress {
  kind: 'standalone' | 'sentinel' | 'cluster';
  /** The URL without secrets, with its defaults, hosts in order: the same table has the same text. */
  text: string;
  options: RedisOptions;
  /** The nodes named for a Cluster; none for the other kinds. */
  nodes: Host[];
}

export interface Host {
  host: string;
  port: number;
}

const form = /^(redis|rediss)(\+sentinel|\+cluster)?:\/\/(?:([^@/]*)@)?([^@/?#]+)((?:\/[^/?#]*)*)$/;

interface Parts {
  start: string;
  hosts: Host[];
  segments: string[];
  common: RedisOptions;
}

/** Reads a URL of one of the four forms. Throws NotConfigured, without repeating what may be a secret. */
export function parseServerUrl(url: string): ServerAddress {
  const [, scheme = '', suffix = '', login, hostList, path = ''] = form.exec(url) ?? [];
  if (hostList === undefined) {
    throw new NotConfigured(
      'The Redis URL must look like redis://host:6379/0, rediss://host:6379/0, ' +
        'redis+sentinel://host:26379,host:26379/masterName/0 or redis+cluster://host:6379,host:6379.',
    );
  }
  const hosts = hostList.split(',').map((host) => parseHost(host, suffix === '+sentinel' ? 26_379 : 6_379));
  const secure: RedisOptions = scheme === 'rediss' ? { tls: {} } : {};
  const parts = {
    start: `${scheme}${suffix}://${hosts.map(hostText).sort().join(',')}`,
    hosts,
    segments: path.split('/').slice(1).map(decode),
    common: { ...secure, ...parseLogin(login) },
  };
  if (suffix === '+sentinel') return sentinelAddress(parts);
  return suffix === '+cluster' ? clusterAddress(parts) : standaloneAddress(parts);
}

function standaloneAddress({ start, hosts, segments, common }: Parts): ServerAddress {
  const [host] = hosts;
  if (host === undefined || hosts.length > 1 || segments.length > 1) {
    throw new NotConfigured('A redis:// URL names one host and at most one database.');
  }
  const options = { ...common, ...host, db: parseDatabase(segments[0]) };
  return { kind: 'standalone', text: `${start}/${options.db}`, options, nodes: [] };
}

function sentinelAddress({ start, hosts, segments, common }: Parts): ServerAddress {
  const [name = '', db] = segments;
  if (name === '' || segments.length > 2) {
    throw new NotConfigured('A redis+sentinel:// URL ends in /masterName or /masterName/db.');
  }
  const tls = common.tls ? { sentinelTLS: common.tls, enableTLSForSentinelMode: true } : {};
  const options = { ...common, ...tls, sentinels: hosts, name, db: parseDatabase(db) };
  return { kind: 'sentinel', text: `${start}/${name}/${options.db}`, options, nodes: [] };
}

function clusterAddress({ start, hosts, segments, common }: Parts): ServerAddress {
  if (segments.some(Boolean)) {
    throw new NotConfigured('A redis+cluster:// URL names no database: a Cluster has one only.');
  }
  return { kind: 'cluster', text: start, options: common, nodes: hosts };
}

/** The same for plain options of ioredis. */
export function addressOfOptions(options: RedisOptions): ServerAddress {
  const scheme = options.tls ? 'rediss' : 'redis';
  const db = options.db ?? 0;
  if (options.sentinels) {
    if (!options.name)
      throw new NotConfigured('Redis options with "sentinels" need the "name" of the master.');
    const hosts = options.sentinels.map(({ host = '', port = 26_379 }) => hostText({ host, port })).sort();
    return {
      kind: 'sentinel',
      text: `${scheme}+sentinel://${hosts.join(',')}/${options.name}/${db}`,
      options,
      nodes: [],
    };
  }
  const place = options.path ?? hostText({ host: options.host ?? 'localhost', port: options.port ?? 6_379 });
  return { kind: 'standalone', text: `${scheme}://${place}/${db}`, options, nodes: [] };
}

function hostText({ host, port }: Host): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseHost(text: string, defaultPort: number): Host {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535) {
    throw new NotConfigured(
      'A host of the Redis URL is malformed; expected host, host:port or [address]:port.',
    );
  }
  return { host, port: number };
}

function parseLogin(login: string | undefined): Pick<RedisOptions, 'username' | 'password'> {
  if (login === undefined || login === '') return {};
  const colon = login.indexOf(':');
  if (colon === -1)
    throw new NotConfigured('The Redis URL has a user without a password; write user:password@.');
  const username = decode(login.slice(0, colon));
  const password = decode(login.slice(colon + 1));
  return username === '' ? { password } : { username, password };
}

function parseDatabase(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) {
    throw new NotConfigured('The database of the Redis URL must be a number.');
  }
  return Number(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new NotConfigured('The Redis URL is not percent-encoded correctly.');
  }
}
