import pg from 'pg';
import { UnsafeServer } from '../errors.js';

const timestamptz = 1184;

/** The parsers of a connection: node-postgres's own, but timestamps as texts. */
export const postgresTypes: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if ((oid as number) === timestamptz && format !== 'binary') return isoTimestamp;
    return pg.types.getTypeParser(oid, format) as (value: string) => unknown;
  },
};

/** PostgreSQL's timestamptz in DateStyle ISO, in whatever time zone, as ISO 8601 in UTC. */
export function isoTimestamp(text: string): string {
  const [, date, time, zone] =
    /^(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::\d\d)?)/.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) {
    throw new UnsafeServer(`PostgreSQL sent the timestamp ${JSON.stringify(text)}; DateStyle must be ISO.`);
  }
  return new Date(`${date}T${time}${zone.length === 3 ? `${zone}:00` : zone}`).toISOString();
}
