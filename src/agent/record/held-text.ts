/**
 * Cleans a text that grows piece by piece: nothing is given out that a later piece could show to be part of a secret.
 * Held back are the last run of characters that a secret may consist of, and what follows the start of a PEM block. A
 * piece is cleaned together with what stood before it, so that a word like `password:` still counts.
 */

/** Longest run that is held back; secrets that are longer are PEM blocks. */
const runLimit = 512;
const pemLimit = 16 * 1024;
const contextChars = 160;
const secretRun = /[\w\-./+=:%~@]+$/;

export class HeldText {
  readonly #clean: (text: string) => string;
  #held = '';
  /** What stood before the held text, already given out. */
  #before = '';

  constructor(clean: (text: string) => string) {
    this.#clean = clean;
  }

  /** The cleaned text that is safe to give out after `added`. */
  push(added: string): string {
    this.#held += added;
    const keep = this.#unsafeLength();
    return this.#giveOut(this.#held.length - keep);
  }

  /** All that is held. What may be the first half of a secret becomes an ellipsis. */
  end(): string {
    const run = secretRun.exec(this.#held)?.[0] ?? '';
    const given = this.#giveOut(this.#held.length - run.length);
    const mayBeSecret = run.length >= 8 && /\d/.test(run) && /[A-Za-z]/.test(run);
    const rest = mayBeSecret ? '…' : this.#giveOut(run.length);
    this.#held = '';
    return given + rest;
  }

  #unsafeLength(): number {
    const pem = this.#held.lastIndexOf('-----BEGIN ');
    if (pem !== -1 && !this.#held.includes('-----END ', pem) && this.#held.length - pem < pemLimit)
      return this.#held.length - pem;
    const run = secretRun.exec(this.#held.slice(-runLimit - 1))?.[0].length ?? 0;
    return run > runLimit ? 0 : run;
  }

  #giveOut(length: number): string {
    if (length === 0) return '';
    const piece = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const before = this.#before;
    const whole = before + piece;
    const clean = this.#clean(whole);
    this.#before = whole.slice(-contextChars);
    // Mostly there is nothing to withhold, and what stood before need not be cleaned by itself.
    return clean === whole ? piece : clean.slice(sharedPrefix(this.#clean(before), clean));
  }
}

function sharedPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
