/** Incremental splitter of newline-delimited JSON (Ollama's stream). Bounded: a longer line is dropped and counted. */
import { defaultEventLimit } from './sse.ts';

export class LineDecoder {
  /** Lines that were longer than the limit. */
  dropped = 0;
  readonly #limit: number;
  readonly #utf8 = new TextDecoder('utf-8');
  #rest = '';
  #tooLong = false;

  constructor(limit = defaultEventLimit) {
    this.#limit = limit;
  }

  /** Calls `onLine` for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Uint8Array, onLine: (line: string) => void): void {
    this.#feed(this.#utf8.decode(chunk, { stream: true }), onLine);
  }

  end(onLine: (line: string) => void): void {
    this.#feed(`${this.#utf8.decode()}\n`, onLine);
  }

  #feed(text: string, onLine: (line: string) => void): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = (this.#rest + text.slice(start, end)).trim();
      this.#rest = '';
      start = end + 1;
      if (this.#tooLong) this.dropped++;
      else if (line !== '') onLine(line);
      this.#tooLong = false;
    }
    if (this.#rest.length + text.length - start > this.#limit) {
      this.#tooLong = true;
      this.#rest = '';
    } else this.#rest += text.slice(start);
  }
}
