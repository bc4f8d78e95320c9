/** The epoch that this process works in, shared by all its parts. */
export interface CurrentEpoch {
  /** The epoch; found, or opened anew, where none is known. Rejects with Unavailable where neither is possible. */
  get(): Promise<string>;
  /** An operation in `epoch` was refused: unless another is known by now, the next `get` looks for one. */
  refused(epoch: string): void;
  /** Calls `listener` once as soon as `epoch` is known to be refused, until the returned function is called. */
  onRefused(epoch: string, listener: () => void): () => void;
}

/** `find` is called once for all who wait at a time, however many were refused. */
export function createCurrentEpoch(find: () => Promise<string>): CurrentEpoch {
  let known: string | null = null;
  let finding: Promise<string> | null = null;
  const listeners = new Set<() => void>();
  const lookFor = async (): Promise<string> => {
    try {
      known = await find();
      return known;
    } finally {
      finding = null;
    }
  };
  return {
    get: async () => known ?? (finding ??= lookFor()),
    refused: (epoch) => {
      if (known !== epoch) return;
      known = null;
      const told = [...listeners];
      listeners.clear();
      for (const listener of told) listener();
    },
    onRefused: (epoch, listener) => {
      if (known === epoch) listeners.add(listener);
      else listener();
      return () => void listeners.delete(listener);
    },
  };
}
