/** Holds back until it is opened. */
export interface Latch {
  opened: Promise<void>;
  open(): void;
}

export function latch(): Latch {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
