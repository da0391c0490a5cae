/**
 * What the redactor's time consists of, on the six real texts of redaction-kinds.ts: milliseconds for a megabyte of the whole, of
 * copying into the kernel's memory and of the kernel's walk, the rest being the detectors; how often the walk stops, and for how
 * many of the stops a detector finds something. Pieces of 16,384 characters, the best of ten runs of each: a short run is
 * hardly disturbed by other programs. `npm run bench:redaction-stops` after a build.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { redact as redactText } from '../../../src/redaction/index.ts';
import type { WalkKernel as Kernel } from '../../../src/redaction/scan/kernel/walk-kernel.ts';
import { makeRealTexts } from '../../support/synth/real-texts.ts';

const built = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'dist', 'redaction');
if (!existsSync(built)) throw new Error('run `npm run build` first');
const load = (path: string) => import(pathToFileURL(join(built, path)).href);
const { redact } = (await load('index.js')) as { redact: typeof redactText };
const { Scanner } = await load('scan/scanner.js');
const { WalkKernel } = (await load('scan/kernel/walk-kernel.js')) as { WalkKernel: typeof Kernel };

const piece = 1 << 14;
const stops = ['word', 'event', 'other', 'shape'] as const;
const handlers = { word: 'wordAt', event: 'eventAt', other: 'otherAt', shape: 'shapeAt' };

/** The kernel that walked last, and the stops since `counted` was emptied. */
let kernel: Kernel | undefined;
let counted: Record<string, number> = {};

/** Counts what `run` stops for. */
function count(run: () => void): void {
  counted = {};
  const { next } = WalkKernel.prototype;
  WalkKernel.prototype.next = function (...args) {
    kernel = this;
    return next.apply(this, args);
  };
  const originals = stops.map((stop) => Scanner.prototype[handlers[stop]]);
  for (const [i, stop] of stops.entries())
    Scanner.prototype[handlers[stop]] = function (...args: unknown[]) {
      const out = args.at(-1) as unknown[];
      const before = out.length;
      const end = originals[i].apply(this, args);
      counted[stop] = (counted[stop] ?? 0) + 1;
      if (out.length > before) counted['found'] = (counted['found'] ?? 0) + 1;
      return end;
    };
  run();
  WalkKernel.prototype.next = next;
  for (const [i, stop] of stops.entries()) Scanner.prototype[handlers[stop]] = originals[i];
}

/** Nanoseconds, the least of ten. */
function best(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 10; time++) {
    const from = process.hrtime.bigint();
    run();
    least = Math.min(least, Number(process.hrtime.bigint() - from));
  }
  return least;
}

/** Walks over a page of the kernel, and goes on behind each stop as if nothing were found. */
function walk(kernel: Kernel, to: number): void {
  const { state } = kernel;
  state.fill(-1, 1, 3);
  state.fill(0, 8, 10);
  state[4] = 0;
  for (let i = 0, isWithin = false; ; ) {
    i = kernel.next(i, to, isWithin);
    const stop = state[0]!;
    if (stop === 0) return;
    isWithin = stop === 1;
    if (stop > 2) {
      state[1] = -1;
      i += 1;
    }
  }
}

console.log(`\nNode ${process.version}   milliseconds for a megabyte        stops in a megabyte`);
console.log(`            whole   copy   walk  detectors     ${stops.join('  ')}   found`);
for (const [kind, text] of Object.entries(makeRealTexts())) {
  const pages = Array.from({ length: Math.ceil(text.length / piece) }, (_, i) =>
    text.slice(i * piece, (i + 1) * piece),
  ).filter((page) => page.length === piece);
  redact(text);
  count(() => void redact(text));
  let [whole, copy, walked] = [0, 0, 0];
  for (const page of pages) {
    whole += best(() => void redact(page));
    copy += best(() => void kernel!.pages.make(page));
    walked += best(() => walk(kernel!, page.length));
  }
  const each = (ns: number): string => (ns / pages.length / piece).toFixed(1).padStart(7);
  const often = [...stops, 'found'].map((stop) =>
    (((counted[stop] ?? 0) * 1e6) / text.length).toFixed(0).padStart(6),
  );
  console.log(
    `${kind.padEnd(10)}${each(whole)}${each(copy)}${each(walked)}${each(whole - copy - walked)}     ${often.join('')}`,
  );
}
