/** A progress bar on stderr for work of more than a second: how much of the file is read, then the current computation. */
import { formatBytes, formatDuration } from '../../../model/quantities.ts';

const quietMs = 1000;
const betweenMs = 100;
const width = 24;

const phaseTexts: Record<string, string> = {
  tree: 'dominators',
  retained: 'retained sizes',
  selfSize: 'owners of internal parts',
  distances: 'distances',
  classes: 'classes',
  aggregates: 'sums by class',
  retainers: 'retainers',
  dominated: 'dominator tree',
};

/** Uses a clock that is loaded already: `performance` loads a dozen internal modules of Node on first use. */
const nowMs = (): number => process.uptime() * 1000;

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = nowMs();
  #shownAt = 0;
  /** Whether its line is on the terminal now. */
  isShown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Whether stderr is a terminal. */
  get isWanted(): boolean {
    return this.#stream.isTTY === true;
  }

  /** If it has drawn, returns a turn of the event loop to wait for, in which a signal is noticed. */
  reading(done: number, total: number | undefined): Promise<void> | undefined {
    if (!this.#isDue()) return undefined;
    const elapsedMs = nowMs() - this.#startedAt;
    this.#show(total ? readingText(done, total, elapsedMs) : `reading ${formatBytes(done)}`);
    return new Promise((resolve) => setImmediate(resolve));
  }

  phase(name: string): void {
    if (!this.#isDue()) return;
    this.#show(`computing ${phaseTexts[name] ?? name}`);
  }

  clear(): void {
    if (this.isShown) this.#stream.write('\r\x1b[K');
    this.isShown = false;
  }

  #isDue(): boolean {
    const now = nowMs();
    if (!this.#stream.isTTY || now - this.#startedAt < quietMs || now - this.#shownAt < betweenMs)
      return false;
    this.#shownAt = now;
    return true;
  }

  #show(text: string): void {
    this.isShown = true;
    this.#stream.write(`\r\x1b[K${text.slice(0, (this.#stream.columns || 80) - 1)}`);
  }
}

function readingText(done: number, total: number, elapsedMs: number): string {
  const share = Math.min(1, done / total);
  const filled = Math.round(share * width);
  const left = share > 0.02 ? `, ${formatDuration((elapsedMs * (1 - share)) / share)} left to read` : '';
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
  return `${bar} ${Math.round(share * 100)} % of ${formatBytes(total)}${left}`;
}
