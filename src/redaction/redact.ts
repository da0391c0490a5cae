/** The public functions: for one text, or for a stream of chunks with the same result. */

import { NameBook } from './names/name-book.ts';
import { Detector } from './scan/detector.ts';
import { TextRedactor } from './text-redactor.ts';
import { KnownValues } from './values/known-values.ts';

export interface RedactOptions {
  /** Values to withhold wherever they occur, in every encoding; at least four characters each. */
  known?: readonly string[];
}

export interface StreamRedactor {
  /** Takes the next piece of the text. Returns the output that is ready, possibly ''. */
  write(chunk: string): string;
  /** Returns the rest of the output. */
  end(): string;
}

let lastDetector: { known: readonly string[]; detector: Detector } | undefined;

/** Consecutive calls with the same known values share a detector, because building its tables takes milliseconds. */
function detectorFor(known: readonly string[]): Detector {
  const last = lastDetector;
  if (last && last.known.length === known.length && last.known.every((value, i) => value === known[i]))
    return last.detector;
  const values = new KnownValues();
  for (const value of known) if (typeof value === 'string') values.add(value);
  const detector = new Detector({ names: new NameBook(), known: values, patterns: [], context: true });
  lastDetector = { known: [...known], detector };
  return detector;
}

/** Returns the text with every credential replaced by `[redacted:<rule>#<tag>]`. JSON stays valid JSON. */
export function redact(text: string, options: RedactOptions = {}): string {
  const redactor = new TextRedactor(detectorFor(options.known ?? []));
  return redactor.write(String(text)) + redactor.end();
}

/** Like `redact`, for a text in chunks that are cut anywhere. Buffers at most about 150,000 characters. */
export function createRedactor(options: RedactOptions = {}): StreamRedactor {
  const redactor = new TextRedactor(detectorFor(options.known ?? []));
  return { write: (chunk) => redactor.write(chunk), end: () => redactor.end() };
}
