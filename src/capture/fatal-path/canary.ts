/**
 * A made-up secret, one a process: planted in every copy of data that is about to be redacted, it must come back as a
 * placeholder, or the redactor did not do its work and the part is not written. Nothing of it stays in the part, and
 * nothing of the host's own is touched. Also looks for it in what was written, with the independent findCanary.
 */
import { loadCrypto } from '../../bundle/write/system.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import { findCanary } from '../../redaction/canary.ts';

/** The name that it bears in copies: of a variable, a field, a local. Says nothing to the redactor. */
export const canaryName = 'AGENTDUMP_CANARY';

const length = 24;
const overlapBytes = 1024;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

let value: string | undefined;
/** By rule, what the redactor withheld for our sake alone. */
let uprooted = new Map<string, number>();

/** The part can't be shown to be redacted. */
export class UnprovenRedaction extends Error {
  override readonly name = 'UnprovenRedaction';
}

/** Made at the first need. As a value on the heap it is in every heap snapshot too. */
export function canary(): string {
  value ??= Array.from(loadCrypto().randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
  return value;
}

/** A copy with the canary as its first field, which no limit on a structure's size reaches. */
export function withCanary<Data extends object>(data: Data): Data {
  const name = { [canaryName]: canary() };
  return { ...name, ...data, ...name };
}

/** Takes the canary's field out of a redacted copy. Throws UnprovenRedaction unless it became a placeholder. */
export function uproot(copy: unknown): void {
  const fields = copy as Record<string, unknown> | undefined;
  const found = typeof fields === 'object' ? fields?.[canaryName] : undefined;
  countUprooted(requireWithheld(found));
  delete fields?.[canaryName];
}

/** The rule by which it was withheld: `found` is a placeholder, or a variable's entry. Throws UnprovenRedaction. */
export function requireWithheld(found: unknown): string {
  const entry = found as { value?: unknown; withheld?: unknown } | undefined;
  const text = typeof found === 'object' ? (entry?.value ?? entry?.withheld) : found;
  const rule = typeof entry?.withheld === 'string' ? entry.withheld : ruleOf(text);
  if (rule === undefined)
    throw new UnprovenRedaction(
      text === canary()
        ? 'a planted secret came through the redactor'
        : 'what became of a planted secret is not to be found, so the redactor may not have run over it',
    );
  return rule;
}

/** Of a placeholder, or of what stands in code, where a secret is masked in place. */
function ruleOf(text: unknown): string | undefined {
  const placeholder = /^\[redacted:([a-z0-9-]{1,40})(?:#[0-9a-f]{8}\]|\]\**)$/;
  return typeof text === 'string' ? placeholder.exec(text)?.[1] : undefined;
}

export function countUprooted(rule: string): void {
  uprooted.set(rule, (uprooted.get(rule) ?? 0) + 1);
}

/** A text redacted with the canary as a line before it, which is then taken away. Throws UnprovenRedaction. */
export function redactText(text: string, redact: (text: string) => string): string {
  const clean = redact(`${canary()}\n${text}`);
  const end = clean.indexOf('\n');
  countUprooted(requireWithheld(clean.slice(0, Math.max(0, end))));
  return clean.slice(end + 1);
}

/** The counts without what was withheld for our sake, which is forgotten then. */
export function withoutCanary(counts: Map<string, number>): Map<string, number> {
  for (const [rule, count] of uprooted) counts.set(rule, (counts.get(rule) ?? 0) - count);
  uprooted = new Map();
  return counts;
}

/** Watches a stream: it must be in what goes in, and not in what comes out. */
export class CanaryWatch {
  #before = Buffer.alloc(0);
  #after = Buffer.alloc(0);
  #isIn = false;

  goesIn(chunk: Uint8Array): void {
    if (this.#isIn) return;
    const bytes = Buffer.concat([this.#before, chunk]);
    this.#isIn = bytes.includes(canary(), 0, 'latin1');
    this.#before = bytes.subarray(-length);
  }

  /** Throws UnprovenRedaction. Chunks of a megabyte are right: each costs a look at its own end again. */
  comesOut(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#after, chunk]);
    if (findCanary(bytes, canary()))
      throw new UnprovenRedaction('a planted secret came through the redactor');
    this.#after = bytes.subarray(-overlapBytes);
  }

  /** Throws UnprovenRedaction for a stream that never held it: it proves nothing. */
  end(): void {
    if (!this.#isIn) throw new UnprovenRedaction('the planted secret was not in it, which proves nothing');
  }
}

/** Reads every part back, but for compressed ones, which were watched, and drops what can't be shown to be clean. */
export function dropUnprovenParts(writer: BundleWriter): void {
  for (const name of writer.partNames.filter((part) => !part.endsWith('.gz'))) {
    const bytes = writer.readBack(name);
    if (!bytes) writer.dropPart(name, withheldWhole('it could not be read back to be looked through'));
    else if (findCanary(bytes, canary()))
      writer.dropPart(name, withheldWhole('a planted secret stands in what was written'));
  }
}

export function withheldWhole(reason: string): string {
  return `withheld as a whole: ${reason}`;
}
