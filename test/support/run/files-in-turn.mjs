// `.ci/run` runs a fifth of the files *.wide.test.ts, another one with each commit, so that it takes a quarter of an hour. By hand all
// of them run; before a change of many rooms lands, run each fifth.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How many commits it takes, on average, until each file has run. */
export const turns = 5;

const numberOf = (text) => createHash('sha256').update(text).digest().readUInt32LE() % turns;

/** The wide files that test the table of deaths: they run each time, on every Node. */
export function filesOfDeaths(root) {
  const table = readFileSync(join(root, 'test/process/deaths/deaths.ts'), 'utf8');
  return new Set(Array.from(table.matchAll(/'([\w/-]+\.wide\.test\.ts)'/g), ([, file]) => `test/${file}`));
}

/**
 * Divides files into those of a turn and the others.
 * @param {string} turn a commit, or the number of a turn: 0 to 4
 * @param {string[]} files paths from the root of the repository
 */
export function inTurn(turn, files, always) {
  const number = /^\d$/.test(turn) ? Number(turn) % turns : numberOf(turn);
  const isDue = (file) => !file.endsWith('.wide.test.ts') || always.has(file) || numberOf(file) === number;
  return { number, due: files.filter(isDue), later: files.filter((file) => !isDue(file)) };
}
