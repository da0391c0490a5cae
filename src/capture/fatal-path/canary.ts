/**
 * A generated secret, one per process. It is added to every copy of data before the copy is redacted; if it does not come
 * back as a placeholder, the redactor did not work and the part is not written. It is removed from the part again, and the
 * host's own data is not changed. The written bytes are also searched for it, with the independent findCanary.
 */

import type { BundleWriter } from '../../bundle/write/writer.ts';
import { randomBytes } from '../../platform/kernel-random.ts';
import { findCanary } from '../../redaction/canary.ts';

/** Its name in the copies, as a variable, a field or a local. The name does not trigger any redaction rule. */
export const canaryName = 'AGENTDUMP_CANARY';

const length = 24;
const overlapBytes = 1024;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

let value: string | undefined;
/** How often the canary itself was withheld, by rule. */
let uprooted = new Map<string, number>();

/** The redaction of the part can't be proven. */
export class UnprovenRedaction extends Error {
  override readonly name = 'UnprovenRedaction';
}

/** Created on first use. Being a value on the heap, it is in every heap snapshot too. */
export function canary(): string {
  value ??= Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
  return value;
}

/** A copy with the canary as its first field, which no limit on a structure's size cuts off. */
export function withCanary<Data extends object>(data: Data): Data {
  const name = { [canaryName]: canary() };
  return { ...name, ...data, ...name };
}

/** Removes the canary's field from a redacted copy. Throws UnprovenRedaction unless it became a placeholder. */
export function uproot(copy: unknown): void {
  const fields = copy as Record<string, unknown> | undefined;
  const found = typeof fields === 'object' ? fields?.[canaryName] : undefined;
  countUprooted(requireWithheld(found));
  delete fields?.[canaryName];
}

/** The rule that withheld it: `found` is a placeholder, or the entry of a variable. Throws UnprovenRedaction. */
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

/** The rule in a placeholder, or in code, where a secret is masked in place. */
function ruleOf(text: unknown): string | undefined {
  const placeholder = /^\[redacted:([a-z0-9-]{1,40})(?:#[0-9a-f]{8}\]|\]\**)$/;
  return typeof text === 'string' ? placeholder.exec(text)?.[1] : undefined;
}

export function countUprooted(rule: string): void {
  uprooted.set(rule, (uprooted.get(rule) ?? 0) + 1);
}

/** Redacts a text with the canary as an additional first line, which is removed afterwards. Throws UnprovenRedaction. */
export function redactText(text: string, redact: (text: string) => string): string {
  const clean = redact(`${canary()}\n${text}`);
  const end = clean.indexOf('\n');
  countUprooted(requireWithheld(clean.slice(0, Math.max(0, end))));
  return clean.slice(end + 1);
}

/** The counts without the canary's own, which are reset. */
export function withoutCanary(counts: Map<string, number>): Map<string, number> {
  for (const [rule, count] of uprooted) counts.set(rule, (counts.get(rule) ?? 0) - count);
  uprooted = new Map();
  return counts;
}

/** Checks a stream: the canary must be in its input, and not in its output. */
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

  /** Throws UnprovenRedaction. Chunks should be about a megabyte, because each one searches its own end a second time. */
  comesOut(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#after, chunk]);
    if (findCanary(bytes, canary()))
      throw new UnprovenRedaction('a planted secret came through the redactor');
    this.#after = bytes.subarray(-overlapBytes);
  }

  /** Throws UnprovenRedaction if the canary was never in the stream, since nothing is proven then. */
  end(): void {
    if (!this.#isIn) throw new UnprovenRedaction('the planted secret was not in it, which proves nothing');
  }
}

/**
 * Reads every part back, except for compressed ones, which were checked as streams, and drops those that are not proven
 * clean.
 */
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
