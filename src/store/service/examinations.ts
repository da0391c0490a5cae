/**
 * Examines complete uploads and adds them to the store, each once, however many requests ask for it. An examination goes on if
 * its sender is gone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendOutcome } from '../../model/fleet/issue.ts';
import type { FleetStore } from '../fleet-store.ts';
import type { Store } from '../open-store.ts';
import { mostBundleBytes } from '../sending/examine.ts';
import { admit } from './admit.ts';
import type { Question } from './examine-upload.ts';
import type { Examiner } from './examiner.ts';
import type { UploadAnswer } from './protocol.ts';
import type { Announced, Uploads } from './uploads.ts';

/** How long an outcome is there for a sender that was told to ask again. */
const rememberMs = 60_000;

interface Parts {
  store: Store;
  fleet: FleetStore;
  uploads: Uploads;
  examiner: Examiner;
  /** How long a request waits for an examination. */
  patienceMs: number;
  note(sentence: string): void;
}

/** What its sender says of it, which the file does not. */
type ToldOfUpload = Pick<Question, 'name' | 'startedAs'>;

interface Examination {
  outcome: Promise<SendOutcome>;
  /** A sender was told to ask again, and has not done so yet. */
  isAwaited: boolean;
}

export class Examinations {
  readonly #parts: Parts;
  readonly #byPath = new Map<string, Examination>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether the upload is or was examined, so that no byte of it is wanted. */
  has(upload: Announced): boolean {
    return this.#byPath.has(this.#parts.uploads.pathOf(upload));
  }

  /** Of an upload that is complete. Its outcome, or all its bytes as the offset if that takes too long. */
  async ask(upload: Announced, told: ToldOfUpload): Promise<UploadAnswer> {
    const path = this.#parts.uploads.pathOf(upload);
    const examination = this.#byPath.get(path) ?? this.#begin(upload, told);
    const waiting = new AbortController();
    const late = sleep(this.#parts.patienceMs, undefined, { signal: waiting.signal });
    try {
      const outcome = await Promise.race([examination.outcome, late]);
      examination.isAwaited = outcome === undefined;
      if (!outcome) return { offset: upload.bytes };
      this.#forget(path, examination);
      return outcome;
    } finally {
      waiting.abort();
    }
  }

  /** Resolves when none is left. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#byPath.values()].map(({ outcome }) => outcome));
  }

  #begin(upload: Announced, told: ToldOfUpload): Examination {
    const path = this.#parts.uploads.pathOf(upload);
    const examination = { outcome: this.#examine(upload, told), isAwaited: false };
    this.#byPath.set(path, examination);
    examination.outcome.then(
      () => {
        if (!examination.isAwaited) this.#forget(path, examination);
        else setTimeout(() => this.#forget(path, examination), rememberMs).unref();
      },
      () => this.#forget(path, examination),
    );
    return examination;
  }

  #forget(path: string, examination: Examination): void {
    if (this.#byPath.get(path) === examination) this.#byPath.delete(path);
  }

  async #examine(upload: Announced, told: ToldOfUpload): Promise<SendOutcome> {
    const { store, fleet, uploads, examiner, note } = this.#parts;
    const path = uploads.pathOf(upload);
    const examined = await examiner.examine({ path, ...told, mostBytes: mostBundleBytes }, upload.bytes);
    const outcome = await admit(store, path, examined);
    // After a failure of the store the file stays, and the sender only asks again.
    uploads.remove(upload);
    await fleet.settle([{ path, ...outcome }], note);
    return outcome;
  }
}
