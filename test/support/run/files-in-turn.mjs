// `.ci/run` runs a fifth of the files *.wide.test.ts, so that it takes a quarter of an hour: five commits in a row run all of
// them. The same is true of files that `npm test` passed, and that have only more generated inputs in the wide run. By hand all
// of them run; before a change of many rooms lands, run each fifth.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longFiles } from './run-order.mjs';

/** In how many commits each file runs once. */
export const turns = 5;

const isNumber = (turn) => /^\d{1,9}$/.test(turn);
const hashOf = (text) => createHash('sha256').update(text).digest().readUInt32LE();
const numberOf = (turn) => (isNumber(turn) ? Number(turn) : hashOf(turn)) % turns;

/** The wide files of which each commit runs all, or a part that they choose themselves (`partInTurn`). */
export function filesOfEachTurn(root) {
  const table = readFileSync(join(root, 'test/process/deaths/deaths.ts'), 'utf8');
  const ofDeaths = Array.from(table.matchAll(/'([\w/-]+\.wide\.test\.ts)'/g), ([, file]) => `test/${file}`);
  return new Set([...ofDeaths, 'test/truth/all.wide.test.ts']);
}

/**
 * The long files are dealt out, forth and back because the longest are first, so that the turns take about the same time; for
 * the others chance is even enough.
 */
function turnOf(file, dealt) {
  const at = dealt.indexOf(file);
  if (at < 0) return hashOf(file) % turns;
  const place = at % turns;
  return Math.floor(at / turns) % 2 === 0 ? place : turns - 1 - place;
}

/**
 * Divides files into those of a turn and the others.
 * @param {string} turn the number of commits up to this one (or of a turn, from 0 to 4), or the commit if that is not known
 * @param {string[]} files paths from the root of the repository
 * @param {Set<string>} always files of every turn
 * @param {Set<string>} [alsoOnce] files that have one turn as the wide ones do
 */
export function inTurn(turn, files, always, alsoOnce = new Set()) {
  const number = numberOf(turn);
  const isWide = (file) => (file.endsWith('.wide.test.ts') || alsoOnce.has(file)) && !always.has(file);
  const dealt = longFiles.filter(isWide);
  const isDue = (file) => !isWide(file) || turnOf(file, dealt) === number;
  return { number, due: files.filter(isDue), later: files.filter((file) => !isDue(file)) };
}

/** How often a file has run before this turn, as far as that is known: what it draws its own parts by. */
export function runsBefore(turn, file, always) {
  if (!isNumber(turn)) return turn;
  const isOfOneTurn = file.endsWith('.wide.test.ts') && !always.has(file);
  return String(isOfOneTurn ? Math.floor(Number(turn) / turns) : Number(turn));
}
