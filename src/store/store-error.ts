import { InvalidTask, PayloadTooLarge, UnsafeServer, WrongSchema } from '../errors.js';

/** The SQLSTATE of an error that PostgreSQL reported, also where an ORM wrapped it. */
export function sqlState(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  }
  return null;
}

/** What the store throws where a query failed with `error`: outages are told by the database adapter already. */
export function storeError(error: unknown, namespace: string): unknown {
  if (!(error instanceof Error)) return error;
  switch (sqlState(error)) {
    case 'HF413':
      return new PayloadTooLarge(error.message);
    case 'HF422':
      return new InvalidTask(error.message, { cause: error });
    case 'HF500':
      return new UnsafeServer(error.message);
    case '3F000': // invalid_schema_name
    case '42P01': // undefined_table
    case '42703': // undefined_column
    case '42883': // undefined_function
      return new WrongSchema(
        `The schema "${namespace}" lacks what this build needs: ${error.message}. Run "holdfast migrate".`,
      );
    case null:
    default:
      return error;
  }
}
