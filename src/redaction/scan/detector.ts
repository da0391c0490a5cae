/**
 * Runs all detectors over one page: known values, the host's patterns, shapes and contexts. Overlapping findings are merged,
 * none splits an escape sequence, and a bare number is replaced by a quoted string.
 */

import { isExampleInComment } from '../grammars/program-line.ts';
import type { NameBook } from '../names/name-book.ts';
import { findContinued } from '../values/continued-values.ts';
import type { KnownValues } from '../values/known-values.ts';
import { characterTables, digit } from './characters.ts';
import { widenEnd, widenStart } from './escapes.ts';
import { WalkKernel } from './kernel/walk-kernel.ts';
import { type Finding, type Page, PageMaker } from './page.ts';
import { Scanner } from './scanner.ts';

export interface DetectorOptions {
  names: NameBook;
  known: KnownValues;
  patterns: readonly RegExp[];
  context: boolean;
  /** Searches for known values only. */
  onlyKnown?: boolean;
  /** Texts from this length on are walked over by the WebAssembly. */
  kernelFrom?: number;
}

/** Shorter texts, like nearly all that are recorded while a program runs, are not worth half a megabyte of memory. */
const usualKernelFrom = 8192;
/** Longer than any stretch, and within the kernel's memory. */
const mostOfKernel = 170_000;

/** Depth to which encoded text inside encoded text is decoded. */
const deepest = 2;

export class Detector {
  private readonly options: DetectorOptions;
  private readonly scanner: Scanner;
  private readonly depth: number;
  private inner: Detector | undefined;
  private innerPages: PageMaker | undefined;
  private pages: PageMaker | undefined;
  private isBusy = false;
  private next: Detector | undefined;

  constructor(options: DetectorOptions, depth = 0) {
    this.options = options;
    this.depth = depth;
    const inside = (text: string): string | undefined => this.findInside(text, depth);
    this.scanner = new Scanner(
      depth < deepest
        ? { names: options.names, context: options.context, inside }
        : { names: options.names, context: options.context },
    );
  }

  /**
   * Calls `use` with this detector and its page of the text. A debugger may stop the thread in here and redact with the same
   * policy (the bundle of a hang is written so); that gets a detector and a page of its own, because this one's page and
   * caches must not change. A search that was cut by a deadline leaves its detector busy for good.
   */
  withPage<Result>(text: string, use: (detector: Detector, page: Page) => Result): Result {
    if (this.isBusy) {
      this.next ??= new Detector(this.options, this.depth);
      return this.next.withPage(text, use);
    }
    this.isBusy = true;
    const { names, kernelFrom = usualKernelFrom, onlyKnown = false } = this.options;
    const kernel =
      onlyKnown || text.length < kernelFrom || text.length > mostOfKernel
        ? undefined
        : WalkKernel.take(names);
    try {
      this.scanner.walkBy(kernel);
      this.pages ??= new PageMaker();
      return use(this, (kernel?.pages ?? this.pages).make(text));
    } finally {
      this.isBusy = false;
      kernel?.release();
    }
  }

  /**
   * Returns the findings that start in [from, stop), merged and in order, and the position where the next search starts: at
   * or after the given `stop`, and not inside a finding.
   */
  find(page: Page, from: number, stop: number): { findings: Finding[]; stop: number } {
    const { known, patterns, onlyKnown } = this.options;
    const found: Finding[] = [];
    const scanned = onlyKnown ? stop : this.scanner.scan(page, from, stop, found);
    const stood = Math.max(stop, Math.min(scanned, page.length));
    known.find(page, from, stood, found);
    for (const pattern of patterns) findPattern(page, pattern, from, stood, found);
    const findings =
      found.length > 0
        ? mergeFindings(
            page,
            found.filter((one) => !isExample(page, one)),
          )
        : found;
    return { findings, stop: Math.max(stood, findings.at(-1)?.end ?? 0) };
  }

  private findInside(text: string, depth: number): string | undefined {
    this.inner ??= new Detector(this.options, depth + 1);
    this.innerPages ??= new PageMaker();
    const page = this.innerPages.make(text);
    return this.inner.find(page, 0, page.length).findings[0]?.rule;
  }
}

const isExample = (page: Page, { start, end, rule }: Finding): boolean =>
  rule !== 'known-value' && rule !== 'host-pattern' && isExampleInComment(page, { start, end });

function findPattern(page: Page, pattern: RegExp, from: number, stop: number, out: Finding[]): void {
  pattern.lastIndex = from;
  for (let match = pattern.exec(page.text); match && match.index < stop; match = pattern.exec(page.text)) {
    if (match[0] === '') pattern.lastIndex += 1;
    else out.push({ start: match.index, end: match.index + match[0].length, rule: 'host-pattern' });
  }
}

/** Merges overlapping findings into their union, with the most specific rule. */
function mergeFindings(page: Page, found: Finding[]): Finding[] {
  for (const finding of found) {
    finding.start = widenStart(page.units, finding.start);
    finding.end = widenEnd(page.units, finding.end, page.length);
    finding.quote ||= bareNumberQuote(page, finding);
  }
  for (let i = 0, own = found.length; i < own; i++)
    for (const piece of findContinued(page, found[i]!)) found.push(piece);
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Finding[] = [];
  for (const finding of found) {
    const last = merged.at(-1);
    if (!last || finding.start >= last.end) {
      if (finding.end > finding.start) merged.push(finding);
      continue;
    }
    if (finding.end > last.end) {
      last.end = finding.end;
      last.resume = finding.resume;
    }
    last.quote ||= finding.quote;
    if (last.rule === 'known-value') last.rule = finding.rule;
  }
  return merged;
}

/** In JSON a bare number can only be replaced by a string: extends the finding to the whole number and returns the quotes. */
function bareNumberQuote(page: Page, finding: Finding): string {
  const { classes } = characterTables();
  const { units } = page;
  if (!(classes[units[finding.start]!]! & digit) || !(classes[units[finding.end - 1]!]! & digit)) return '';
  const numberUnit = (unit: number): boolean =>
    (classes[unit]! & digit) !== 0 ||
    unit === 46 ||
    unit === 45 ||
    unit === 43 ||
    unit === 101 ||
    unit === 69;
  let start = finding.start;
  let end = finding.end;
  while (start > 0 && finding.start - start < 64 && numberUnit(units[start - 1]!)) start -= 1;
  while (end - finding.end < 64 && numberUnit(units[end]!)) end += 1;
  if (!/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(page.text.slice(start, end))) return '';
  const before = page.text.slice(Math.max(0, start - 40), start).trimEnd();
  const after = page.text.slice(end, end + 40).trimStart();
  // `"otp: 123456"`, `"otp: 123456, valid for"`: within a string, where a quote would end it.
  if (
    !/(?:^|[\]}[]|["']\s*:|(?:["'\d\]}]|true|false|null)\s*,)$/.test(before) ||
    !/^(?:$|[,\]}])/.test(after)
  )
    return '';
  finding.start = start;
  finding.end = end;
  return nearestQuote(page, start);
}

/** The nearest double quote before `start`, with its backslashes: the quoting of strings at this place. */
function nearestQuote(page: Page, start: number): string {
  const before = page.text.slice(Math.max(0, start - 512), start);
  return /(\\*")[^"]*$/.exec(before)?.[1] ?? '"';
}
