/**
 * Redacts a text that arrives piece by piece. Text is withheld as long as a later piece could turn it into part of a secret:
 * the last run of characters that may occur in a secret, and everything after the start of a PEM block. A piece is redacted
 * together with the text before it, so that words like `password:` are taken into account.
 */

/** The longest run that is held back. Longer secrets are PEM blocks. */
const runLimit = 512;
const pemLimit = 16 * 1024;
const contextChars = 160;
const secretRun = /[\w\-./+=:%~@]+$/;

export class HeldText {
  readonly #clean: (text: string) => string;
  #held = '';
  /** The text before the held text, already returned. */
  #before = '';

  constructor(clean: (text: string) => string) {
    this.#clean = clean;
  }

  /** The redacted text that is safe to return after `added`. */
  push(added: string): string {
    this.#held += added;
    const keep = this.#unsafeLength();
    return this.#giveOut(this.#held.length - keep);
  }

  /** Returns everything that is held. What may be the first half of a secret is replaced by an ellipsis. */
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
    // Usually nothing is redacted, and the text before it need not be redacted separately.
    return clean === whole ? piece : clean.slice(sharedPrefix(this.#clean(before), clean));
  }
}

function sharedPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}
