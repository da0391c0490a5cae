/**
 * Redacts and compresses a heap as the text of a snapshot, as a stream, so that the clear text is never complete in memory or
 * on the disk. A secret planted in it must come out redacted.
 */
import { promisify } from 'node:util';
import { gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import { CanaryWatch, canary } from '../../capture/fatal-path/canary.ts';
import { createRecordRedactor, type RecordRedactor } from '../../redaction/snapshot/records.ts';
import { createSnapshotRedactor } from '../../redaction/snapshot/redactor.ts';
import type { Scrubber } from './scrubber.ts';

/** One gzip member per batch: members may be concatenated (RFC 1952). */
const batchBytes = 1024 * 1024;
const level = 1;
const largestBytes = 2 * 1024 ** 3;

const compress = promisify<Buffer, ZlibOptions, Buffer>(gzip);

/** Receives each member, redacted and compressed. */
type TakeMember = (member: Uint8Array) => void;

/** For the text of a snapshot that V8 writes. */
export class HeapMembers {
  readonly #redactor: ReturnType<typeof createSnapshotRedactor>;
  readonly #watch = new CanaryWatch();
  readonly #batches = new Batches();
  readonly #take: TakeMember;

  constructor(scrubber: Scrubber, take: TakeMember) {
    this.#take = limited(take);
    this.#redactor = createSnapshotRedactor({ strings: 'names', policy: scrubber });
  }

  /** Throws if the input is not a snapshot, or if the planted secret comes out. */
  write(raw: Buffer): void {
    this.#watch.goesIn(raw);
    this.#pass(this.#batches.add(Buffer.from(this.#redactor.write(raw))));
  }

  /** Throws like `write`, and if the secret was not found in the input. */
  end(): void {
    this.#pass(this.#batches.add(this.#redactor.end()));
    this.#pass(this.#batches.rest());
    this.#watch.end();
  }

  #pass(batch: Buffer | undefined): void {
    if (!batch) return;
    this.#watch.comesOut(batch);
    this.#take(gzipSync(batch, { level }));
  }
}

/** What the reader of a heap needs in order to write it redacted. */
export interface GraphRedaction {
  /** `head`: the text of the snapshot before its nodes. */
  readonly redactorFor: (head: string) => RecordRedactor;
  /** To be written as an additional string. */
  readonly planted: string;
  /** Chunks of the text that are compressed, to be used again. */
  readonly spare: Buffer[];
}

/**
 * For the text that we write ourselves of a graph. What is before the list of strings is our own numbers, so only the list is
 * searched for the planted secret, which for the whole text would take as long as to compress it.
 */
export class GraphMembers implements GraphRedaction {
  readonly planted = canary();
  readonly spare: Buffer[] = [];
  readonly #watch = new CanaryWatch();
  readonly #scrubber: Scrubber;
  readonly #batches = new Batches();
  readonly #take: TakeMember;
  #compressed: Promise<void> = Promise.resolve();

  readonly redactorFor = (head: string): RecordRedactor => {
    const { nodes, edges, strings } = createRecordRedactor(head, {
      strings: 'names',
      policy: this.#scrubber,
    });
    return {
      nodes,
      edges,
      strings: (raw) => {
        this.#watch.goesIn(raw);
        const clean = strings(raw);
        this.#watch.comesOut(clean);
        return clean;
      },
    };
  };

  constructor(scrubber: Scrubber, take: TakeMember) {
    this.#scrubber = scrubber;
    this.#take = limited(take);
  }

  /** Takes text with strings that the redactor rewrote. One batch is compressed while the next one is read. */
  async write(clean: Buffer): Promise<void> {
    await this.#compress(this.#batches.add(clean));
  }

  /** Rejects if the planted secret was not in the list of strings. */
  async end(): Promise<void> {
    await this.#compress(this.#batches.rest());
    await this.#compressed;
    this.#watch.end();
  }

  async #compress(batch: Buffer | undefined): Promise<void> {
    if (!batch) return;
    await this.#compressed;
    this.#compressed = compress(batch, { level }).then((member) => {
      // Of a batch of several chunks, and of a small one, the memory may be shared.
      if (batch.byteOffset === 0 && batch.length * 2 > batch.buffer.byteLength) this.spare.push(batch);
      this.#take(member);
    });
    // A failure is found by the next call.
    this.#compressed.catch(() => {});
  }
}

/** @throws RangeError for more bytes than a bundle takes. */
function limited(take: TakeMember): TakeMember {
  let total = 0;
  return (member) => {
    take(member);
    total += member.length;
    if (total > largestBytes) throw new RangeError(`the snapshot has more than ${largestBytes} bytes`);
  };
}

class Batches {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** The batch that became full. */
  add(piece: Buffer): Buffer | undefined {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return this.#bytes >= batchBytes ? this.rest() : undefined;
  }

  rest(): Buffer | undefined {
    if (this.#bytes === 0) return undefined;
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return whole;
  }
}
