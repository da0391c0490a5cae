/** A cursor over the tokens of a query. An unexpected token throws an error with its position. */
import { wrongQuery } from './syntax.ts';
import type { Token } from './tokens.ts';

const maxDepth = 64;

export class TokenCursor {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #row = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], text: string) {
    this.#tokens = tokens;
    this.text = text;
  }

  protected get token(): Token | undefined {
    return this.ahead(0);
  }

  protected ahead(words: number): Token | undefined {
    return this.#tokens[this.#row + words];
  }

  protected skip(words = 1): void {
    this.#row += words;
  }

  get isAtEnd(): boolean {
    return this.#row >= this.#tokens.length;
  }

  /** Position of the next token. */
  get at(): number {
    return this.token?.at ?? this.text.length;
  }

  protected get end(): number {
    return this.#tokens[this.#row - 1]?.end ?? 0;
  }

  protected nested<Result>(read: () => Result): Result {
    if (++this.#depth > maxDepth) throw this.wrong('fewer brackets');
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  count(): number {
    const { at } = this;
    const token = this.token;
    if (token?.kind !== 'number' || !Number.isInteger(token.value))
      throw wrongQuery(this.text, at, 'a number');
    this.skip();
    return token.value;
  }

  list<Item>(read: () => Item): Item[] {
    const items = [read()];
    while (this.takeSign(',')) items.push(read());
    return items;
  }

  word(wanted: string): string {
    const token = this.token;
    if (token?.kind !== 'word' && token?.kind !== 'text') throw this.wrong(wanted);
    this.skip();
    return token.text;
  }

  protected isWord(...words: string[]): boolean {
    const token = this.token;
    return token?.kind === 'word' && words.includes(token.text.toLowerCase());
  }

  take(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.skip();
    return true;
  }

  require(word: string): void {
    if (!this.take(word)) throw this.wrong(word);
  }

  protected isSign(sign: string): boolean {
    const token = this.token;
    return token?.kind === 'sign' && token.text === sign;
  }

  protected sign(...signs: string[]): string | undefined {
    const sign = signs.find((known) => this.isSign(known));
    if (sign) this.skip();
    return sign;
  }

  takeSign(sign: string): boolean {
    return this.sign(sign) !== undefined;
  }

  requireSign(sign: string): void {
    if (!this.takeSign(sign)) throw this.wrong(sign);
  }

  wrong(wanted: string): Error {
    return wrongQuery(this.text, this.at, wanted);
  }
}
