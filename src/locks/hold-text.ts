/** One of the times that a task has come up for claiming. */
export interface HoldName {
  task: string;
  entry: number;
}

/** (task, entry) as one text, as announcements carry it. */
export function holdText({ task, entry }: HoldName): string {
  return `${entry}:${task}`;
}

/** Nothing for what another program said. */
export function holdsOfTexts(texts: readonly string[]): HoldName[] {
  return texts.flatMap((text) => {
    const [, entry, task] = /^(\d+):(.+)$/s.exec(text) ?? [];
    return entry === undefined || task === undefined ? [] : [{ task, entry: Number(entry) }];
  });
}
