type Method = (...args: unknown[]) => unknown;

export interface Step {
  method: string;
  args: unknown[];
}

/** Called around every call: before it is made, and once it has succeeded. What it throws is the call's outcome. */
export interface Interference {
  before(step: Step): Promise<void>;
  after(step: Step, result: unknown): Promise<void>;
}

/** The object with something happening between the steps of those who use it: around each call of these methods. */
export function interfering<T extends object>(
  target: T,
  methods: (keyof T & string)[],
  interference: Interference,
): T {
  const wrapped: ReadonlySet<unknown> = new Set(methods);
  return new Proxy(target, {
    get: (_target, property) => {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      const call: Method = (...args) => Reflect.apply(value, target, args) as unknown;
      if (!wrapped.has(property)) return call;
      return async (...args: unknown[]) => {
        const step = { method: String(property), args };
        await interference.before(step);
        const result = await call(...args);
        await interference.after(step, result);
        return result;
      };
    },
  });
}
