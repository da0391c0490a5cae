/**
 * Finds the line of a test, for deaths without a stack: out of memory, killed, waiting for something that never happens. Not
 * all runners report the line, but all report the file and the titles, and a title is a string literal in the file. A
 * computed title (`each`, a template) is not found. Does not parse the code.
 */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { filePathOf } from '../../formats/stack-text/location.ts';
import type { CiPlace } from '../../model/ci-summary.ts';
import type { RunningTestFacts } from '../../model/tests.ts';

const largestFile = 4 * 1024 * 1024;

/** Undefined if the title is not found, or occurs twice and its suites don't decide which one is meant. */
export function findTestPlace({ file, name }: RunningTestFacts): CiPlace | undefined {
  const path = file === undefined ? undefined : resolve(filePathOf(file));
  const text = path === undefined ? undefined : readText(path);
  const line = text === undefined ? undefined : lineOfTest(text, name);
  return path === undefined || line === undefined ? undefined : { file: path, line };
}

/** 1-based. Pure. */
export function lineOfTest(text: string, name: readonly string[]): number | undefined {
  const title = name.at(-1);
  if (title === undefined || title === '') return undefined;
  let from = 0;
  let isSure = true;
  for (const suite of name.slice(0, -1)) {
    const at = findLiteral(text, suite, from);
    if (at === undefined) isSure = false;
    else from = at + 1;
  }
  const at = findLiteral(text, title, from);
  if (at === undefined) return undefined;
  if (!isSure && findLiteral(text, title, at + 1) !== undefined) return undefined;
  return text.slice(0, at).split('\n').length;
}

function findLiteral(text: string, title: string, from: number): number | undefined {
  const places = ["'", '"', '`']
    .map((quote) => text.indexOf(literalOf(title, quote), from))
    .filter((at) => at >= 0);
  return places.length ? Math.min(...places) : undefined;
}

function literalOf(title: string, quote: string): string {
  const escaped = title.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll(quote, `\\${quote}`);
  return `${quote}${escaped}${quote}`;
}

function readText(path: string): string | undefined {
  try {
    return statSync(path).size > largestFile ? undefined : readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
