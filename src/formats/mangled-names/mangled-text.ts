/**
 * The characters of a mangled name, from left to right. Unexpected characters throw Unknown, and the name is left unchanged.
 */

export class Unknown extends Error {}

export class MangledText {
  readonly text: string;
  at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  /** The character at the position plus `ahead`; empty beyond either end. */
  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? '';
  }

  next(length: number): string {
    return this.text.slice(this.at, this.at + length);
  }

  rest(): string {
    return this.text.slice(this.at);
  }

  atEnd(): boolean {
    const c = this.peek();
    return c === '' || c === 'E' || c === '.';
  }

  take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw new Unknown();
  }

  until(end: string): string {
    const stop = this.text.indexOf(end, this.at);
    if (stop < 0) throw new Unknown();
    const text = this.text.slice(this.at, stop);
    this.at = stop + 1;
    return text;
  }

  /** `_` is the first, `0_` the second. */
  index(): number {
    const digits = this.until('_');
    return digits === '' ? 1 : Number(digits) + 2;
  }

  sourceName(): string {
    const match = /^\d+/.exec(this.text.slice(this.at, this.at + 6));
    if (!match) throw new Unknown();
    this.at += match[0].length;
    const name = this.text.slice(this.at, this.at + Number(match[0]));
    this.at += Number(match[0]);
    if (this.at > this.text.length) throw new Unknown();
    return /^_GLOBAL_[._$]N/.test(name) ? '(anonymous namespace)' : name;
  }
}
