/**
 * Redacts and compresses a heap snapshot as a stream, so that the clear text is never complete in memory or on the disk. A
 * secret planted in it must come out redacted.
 */
import { gzipSync } from 'node:zlib';
import { CanaryWatch } from '../../capture/fatal-path/canary.ts';
import { createSnapshotRedactor } from '../../redaction/snapshot/redactor.ts';
import type { Scrubber } from './scrubber.ts';

/** One gzip member per batch: members may be concatenated (RFC 1952). */
const batchBytes = 1024 * 1024;
const largestBytes = 2 * 1024 ** 3;

export class HeapMembers {
  readonly #redactor: ReturnType<typeof createSnapshotRedactor>;
  readonly #watch = new CanaryWatch();
  readonly #take: (member: Uint8Array) => void;
  #batch: Buffer[] = [];
  #batched = 0;
  #total = 0;

  /** `take` receives each member, redacted and compressed. */
  constructor(scrubber: Scrubber, take: (member: Uint8Array) => void) {
    this.#take = take;
    this.#redactor = createSnapshotRedactor({ strings: 'names', policy: scrubber });
  }

  /** Throws if the input is not a snapshot, or if the planted secret comes out. */
  write(raw: Buffer): void {
    this.#watch.goesIn(raw);
    this.#add(Buffer.from(this.#redactor.write(raw)), false);
  }

  /** Throws like `write`, and if the secret was not found in the input. */
  end(): void {
    this.#add(this.#redactor.end(), true);
    this.#watch.end();
  }

  #add(clean: Buffer, isLast: boolean): void {
    this.#batch.push(clean);
    this.#batched += clean.length;
    if (this.#batched < batchBytes && !isLast) return;
    const whole = Buffer.concat(this.#batch);
    this.#watch.comesOut(whole);
    const member = gzipSync(whole, { level: 1 });
    this.#take(member);
    this.#total += member.length;
    if (this.#total > largestBytes) throw new RangeError(`the snapshot has more than ${largestBytes} bytes`);
    this.#batch = [];
    this.#batched = 0;
  }
}
