/** Checks that the program's resident memory is within its limit. */
import type { Complaint, HealthCheck } from './limits.ts';
import { readResidentBytes } from './program.ts';

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`;

export class MemoryCheck implements HealthCheck {
  readonly everyMs = 250;
  readonly #program: () => number;
  readonly #mostBytes: number;

  constructor(program: () => number, mostBytes: number) {
    this.#program = program;
    this.#mostBytes = mostBytes;
  }

  look(): Complaint | undefined {
    const bytes = readResidentBytes(this.#program());
    if (bytes === undefined || bytes <= this.#mostBytes) return undefined;
    const what = `resident memory ${megabytes(bytes)} is over the limit of ${megabytes(this.#mostBytes)}`;
    return { level: 'process', check: 'memory', what };
  }
}
