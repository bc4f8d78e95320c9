/** The object with some of its methods replaced; all others are called on the object itself. */
export function overriding<T extends object>(target: T, overrides: Partial<T>): T {
  return new Proxy(target, {
    get: (_target, property) => {
      const override: unknown = Reflect.get(overrides, property);
      if (override !== undefined) return override;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
