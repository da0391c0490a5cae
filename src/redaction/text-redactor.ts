/**
 * Redacts a text that comes in chunks. The text is divided into stretches by its content alone, never by chunks, so the
 * output is the same for every chunk size. A stretch is searched only when enough of the following text is available. Buffers
 * at most one stretch and its surroundings.
 */

import { renderPlaceholder } from './placeholder.ts';
import type { Detector } from './scan/detector.ts';
import type { Finding, Page } from './scan/page.ts';

/** Units searched at a time. */
const stretch = 1 << 17;
/** Units after a stretch that a finding in it may extend into: more than the longest key. */
const ahead = 20_000;
/** Units before a stretch that are searched again as context: a name, or the field that names the next one. */
const behind = 512;

/** Units of the line before a finding that are passed to a renderer. */
const seenBefore = 400;

/**
 * Returns the replacement of a finding. `before` is the visible part of the line before it. A finding longer than what is
 * read at a time comes in parts; `isRest` is true for the second and later ones.
 */
export type Render = (rule: string, value: string, before: string, isRest?: boolean) => string;

/** A finding whose end was not read yet. */
interface Unfinished {
  findEnd: NonNullable<Finding['resume']>;
  rule: string;
  before: string;
}

export interface RedactionCounter {
  count(rule: string, value: string): void;
}

export class TextRedactor {
  private readonly detector: Detector;
  private readonly counter: RedactionCounter | undefined;
  private readonly renderOne: Render;
  /** In JSON a number needs quotes when it is replaced by text, but not by a replacement of the same length. */
  private readonly quotesNumbers: boolean;
  private pending = '';
  /** Units at the start of `pending` that are already written. */
  private seen = 0;
  private unfinished: Unfinished | undefined;

  constructor(detector: Detector, counter?: RedactionCounter, renderOne: Render = renderPlaceholder) {
    this.detector = detector;
    this.counter = counter;
    this.renderOne = renderOne;
    this.quotesNumbers = renderOne === renderPlaceholder;
  }

  write(chunk: string): string {
    this.pending += chunk;
    let out = '';
    while (this.pending.length - this.seen >= stretch + ahead) out += this.takeStretch(false);
    return out;
  }

  end(): string {
    let out = '';
    while (this.pending.length - this.seen >= stretch + ahead) out += this.takeStretch(false);
    if (this.pending.length > this.seen) out += this.takeStretch(true);
    this.pending = '';
    this.seen = 0;
    this.unfinished = undefined;
    return out;
  }

  /** Searches the next stretch, drops what is no longer needed and returns the redacted text. */
  private takeStretch(isLast: boolean): string {
    const size = isLast ? this.pending.length : this.seen + stretch + ahead;
    const text = size === this.pending.length ? this.pending : this.pending.slice(0, size);
    return this.detector.withPage(text, (detector, page) => this.takePage(detector, page, isLast));
  }

  private takePage(detector: Detector, page: Page, isLast: boolean): string {
    let from = this.seen;
    let out = '';
    if (this.unfinished) {
      const { findEnd, rule, before } = this.unfinished;
      from = findEnd(page, from);
      out = this.renderOne(rule, page.text.slice(this.seen, from), before, true);
      if (from < page.length) this.unfinished = undefined;
    }
    const stop = isLast ? page.length : Math.max(from, this.seen + stretch);
    const { findings, stop: stood } = detector.find(page, this.resumeContext(from), stop);
    out += this.render(page, findings, from, stood);
    const last = findings.at(-1);
    if (!isLast && last?.resume && last.end >= page.length)
      this.unfinished = {
        findEnd: last.resume,
        rule: last.rule,
        before: inFront(page, Math.max(last.start, from)),
      };
    const keep = Math.max(0, stood - behind);
    this.pending = isLast ? '' : this.pending.slice(keep);
    this.seen = stood - keep;
    return out;
  }

  /** Context before `from` is searched again, unless a secret ended there. */
  private resumeContext(from: number): number {
    return from > this.seen ? from : Math.max(0, from - behind);
  }

  private render(page: Page, findings: Finding[], from: number, to: number): string {
    let out = '';
    let at = from;
    for (const { start, end, rule, quote = '' } of findings) {
      if (end <= at) continue;
      const first = Math.max(start, at);
      const value = page.text.slice(first, end);
      const shown = this.renderOne(rule, value, inFront(page, first));
      out += page.text.slice(at, first);
      if (shown === value) out += value;
      else {
        out += this.quotesNumbers ? quote + shown + quote : shown;
        this.counter?.count(rule, value);
      }
      at = end;
    }
    if (at === 0 && to === page.length) return page.text;
    return out + page.text.slice(at, to);
  }
}

function inFront({ text }: Page, at: number): string {
  const before = text.slice(Math.max(0, at - seenBefore), at);
  return before.slice(before.lastIndexOf('\n') + 1);
}
