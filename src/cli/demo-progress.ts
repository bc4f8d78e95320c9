import type { MirrorProgress } from './mirror-demo.js';
import { writeNote } from './write-output.js';

const linePauseMs = 2_000;
const barWidth = 24;

/** Shows how far a demo is: one line that changes on a terminal, a line every two seconds elsewhere. */
export class DemoProgress {
  readonly #terminal: boolean;
  readonly #started = performance.now();
  #lastLine = -Infinity;
  #open = false;

  constructor(terminal: boolean = process.stderr.isTTY) {
    this.#terminal = terminal;
  }

  /** Says what begins now. */
  async step(text: string): Promise<void> {
    await this.end();
    await writeNote(`${text}\n`);
  }

  /** Closes the line that was being changed. */
  async end(): Promise<void> {
    if (this.#open) await writeNote('\n');
    this.#open = false;
  }

  show(progress: MirrorProgress): void {
    const now = performance.now();
    if (progress.dispatched === 0) return;
    if (!this.#terminal && now - this.#lastLine < linePauseMs) return;
    this.#lastLine = now;
    const text = this.#text(progress, (now - this.#started) / 1_000);
    this.#open = this.#terminal;
    void writeNote(this.#terminal ? `\r\u001b[K${text}` : `${text}\n`);
  }

  #text({ dispatched, settled, longestQueue }: MirrorProgress, seconds: number): string {
    const bar = this.#terminal ? `${barText(settled, dispatched)} ` : '';
    const queue = `longest queue ${longestQueue}`;
    return `  ${bar}${settled} of ${dispatched} tasks done, ${queue}, ${seconds.toFixed(1)}s`;
  }
}

function barText(done: number, all: number): string {
  const filled = all === 0 ? 0 : Math.floor((barWidth * done) / all);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
}
