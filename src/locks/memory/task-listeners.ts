type Listener = (tasks: string[]) => void;

/** Those who want to hear of tasks that are announced. They are told later, never inside the call that announces. */
export class TaskListeners {
  readonly #listeners = new Set<Listener>();

  announce(tasks: string[]): void {
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener([...tasks]);
      });
    }
  }

  /** Returns what ends it. */
  add(listener: Listener): () => void {
    const own: Listener = (tasks) => listener(tasks);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  end(): void {
    this.#listeners.clear();
  }
}
