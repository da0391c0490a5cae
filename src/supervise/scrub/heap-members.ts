/**
 * A heap snapshot on its way into a part: redacted and compressed as it comes, so that no clear text is ever whole in
 * memory or on the disk. A secret planted in it must come out withheld.
 */
import { gzipSync } from 'node:zlib';
import { CanaryWatch } from '../../capture/fatal-path/canary.ts';
import { createSnapshotRedactor } from '../../redaction/snapshot/redactor.ts';
import type { Scrubber } from './scrubber.ts';

/** One gzip member a batch: members may be concatenated (RFC 1952). */
const batchBytes = 1024 * 1024;
const largestBytes = 2 * 1024 ** 3;

export class HeapMembers {
  readonly #redactor: ReturnType<typeof createSnapshotRedactor>;
  readonly #watch = new CanaryWatch();
  readonly #members: Uint8Array[] = [];
  #batch: Buffer[] = [];
  #batched = 0;
  #total = 0;

  constructor(scrubber: Scrubber) {
    this.#redactor = createSnapshotRedactor({ strings: 'names', policy: scrubber });
  }

  /** Throws for what is no snapshot, and where the planted secret comes out. */
  write(raw: Buffer): void {
    this.#watch.goesIn(raw);
    this.#add(Buffer.from(this.#redactor.write(raw)), false);
  }

  /** Throws as `write`, and where no secret was planted. */
  end(): Uint8Array[] {
    this.#add(this.#redactor.end(), true);
    this.#watch.end();
    return this.#members;
  }

  #add(clean: Buffer, isLast: boolean): void {
    this.#batch.push(clean);
    this.#batched += clean.length;
    if (this.#batched < batchBytes && !isLast) return;
    const whole = Buffer.concat(this.#batch);
    this.#watch.comesOut(whole);
    const member = gzipSync(whole, { level: 1 });
    this.#members.push(member);
    this.#total += member.length;
    if (this.#total > largestBytes) throw new RangeError(`the snapshot has more than ${largestBytes} bytes`);
    this.#batch = [];
    this.#batched = 0;
  }
}
