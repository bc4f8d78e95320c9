import type { Choice } from './steps.js';

/**
 * Leads a walk to where it becomes dangerous: takes the next choice of the script as soon as it may happen, holds the
 * later ones back until then, and has nothing fail besides. What happens in between is still left to chance.
 */
export class Script {
  readonly #left: string[];

  constructor(script: readonly string[] = []) {
    this.#left = [...script];
  }

  /** Resolves with a place among the choices, by `other` where the script says nothing. */
  step(choices: readonly Choice[], other: (free: readonly Choice[]) => number): number {
    const [next] = this.#left;
    if (next === undefined) return other(choices);
    const labels = choices.map((choice) => choice.label());
    const scripted = labels.findIndex((label) => label.startsWith(next));
    if (scripted >= 0) {
      this.#left.shift();
      return scripted;
    }
    const free = choices.filter(({ optional }, at) => !optional && !this.#isHeldBack(labels[at] ?? ''));
    const [chosen] = free.length === 0 ? [] : [free[other(free)]];
    if (chosen !== undefined) return choices.indexOf(chosen);
    // It leads no further: from here on anything may happen.
    this.#left.length = 0;
    return other(choices);
  }

  #isHeldBack(label: string): boolean {
    return this.#left.some((later) => label.startsWith(later));
  }
}
