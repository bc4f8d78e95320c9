import { NotConfigured, Unavailable } from '../errors.js';
import { shown } from '../shown.js';

/** What only another folder mends. */
const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file, or a link that leads nowhere',
  ENOTDIR: 'what it lies in is a file',
  ENOENT: 'it is gone, or lies behind a link that leads nowhere',
  ELOOP: 'it lies behind too many links',
  ENAMETOOLONG: 'its name is too long',
  ERR_INVALID_ARG_VALUE: 'its name holds NUL',
  EACCES: 'nothing can be written to it',
  EPERM: 'nothing can be written to it',
  EROFS: 'nothing can be written to it',
};

/** NotConfigured where the folder can hold no data whatever is tried, Unavailable where it may later. */
export function folderError(folder: string, error: unknown): NotConfigured | Unavailable {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = reasons[code];
  const name = shown(folder, 1_000);
  if (reason !== undefined) {
    return new NotConfigured(
      `The data folder ${name} cannot be used: ${reason} (${code}). Name another one in "dataDir".`,
    );
  }
  return new Unavailable(`The data folder ${name} cannot be opened: ${message}`, { cause: error });
}
