/**
 * Cores of many exact versions of Node compared with V8's own stack, frame by frame: function, line and column, in order, in
 * every tier, each forced and seen to be reached. A core whose frames differ must say so (a gap, and a verdict that is not
 * certain); a line that begins with WRONG is one that doesn't. `npm run oracle:cores [seeds] [part of a version …]`; it
 * installs the Nodes of test/core-nodes (2.4 GB).
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { FileSource } from '../../../src/bytes/byte-source.ts';
import { readElf } from '../../../src/formats/elf/elf-file.ts';
import { findSymbolTable } from '../../../src/formats/elf/symbols.ts';
import type { Account } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';
import { makeCore, noCores, victims } from '../../support/cores/core-victims.ts';
import { bareName, parseTruth, type TruePlace } from '../../support/cores/frame-truth.ts';

if (noCores) {
  console.log(`skipped: ${noCores}`);
  process.exit(0);
}
const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'core-nodes');
const seeds = Number(process.argv[2] ?? 2);
const wanted = process.argv.slice(3);
const links = 60;
const generated = '/generated/frames.js';
const listed: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
);
const versions = Object.keys(listed.dependencies)
  .map((name) => name.replace('node-', ''))
  .filter((version) => wanted.length === 0 || wanted.some((part) => version.startsWith(part)));

type Tier = 'interpreter' | 'baseline' | 'maglev' | 'turbofan';

/** Without concurrency, code is compiled before the program goes on, however busy the machine is. */
const atOnce = '--no-concurrent-recompilation';
const modes: Record<Tier, { flags: string[]; rounds: number }> = {
  interpreter: { flags: ['--no-opt', '--no-sparkplug'], rounds: 20 },
  baseline: { flags: ['--no-opt', '--always-sparkplug'], rounds: 3 },
  maglev: { flags: ['--no-opt', atOnce], rounds: 4000 },
  turbofan: { flags: [atOnce], rounds: 20_000 },
};

/** Whether the compiler is in the executable: where it isn't, V8 accepts the flag and ignores it. */
function hasMaglev(path: string): boolean {
  const source = new FileSource(path);
  const symbols = findSymbolTable(readElf(source), 'full')?.withPrefix(
    '_ZN2v88internal6maglev14MaglevCompiler',
  );
  source.close();
  return (symbols?.length ?? 0) > 0;
}

const isSame = (mine: Frame | undefined, truth: TruePlace) =>
  mine?.line === truth.line &&
  mine.column === truth.column &&
  bareName(mine.function ?? '') === bareName(truth.name);

const told = (frame: Frame | undefined) =>
  frame ? `${frame.function} ${frame.line}:${frame.column} ${frame.tier}` : 'nothing';

interface Result {
  right: number;
  all: number;
  tiers: Set<string | undefined>;
  account: Account;
  first?: string;
}

async function compare(node: string, tier: Tier, seed: number, maglev: string[]): Promise<Result> {
  const { flags, rounds } = modes[tier];
  const death = makeCore(node, [
    ...flags,
    ...maglev,
    join(victims, 'frames.cjs'),
    `${seed}`,
    `${links}`,
    `${rounds}`,
  ]);
  try {
    const truth = parseTruth(death.stdout).filter(({ file }) => file === generated);
    const account = await accountForCore(death.core, { heap: false, executable: node });
    const frames = account.threads?.find(({ crashed }) => crashed)?.frames ?? [];
    const mine = frames.filter(({ file }) => file === generated);
    const wrong = truth.findIndex((place, i) => !isSame(mine[i], place));
    const at = wrong < 0 && mine.length > truth.length ? truth.length : wrong;
    const place = truth[at];
    return {
      right: truth.filter((each, i) => isSame(mine[i], each)).length,
      all: Math.max(truth.length, mine.length),
      tiers: new Set(mine.map((frame) => frame.tier)),
      account,
      ...(at < 0
        ? {}
        : {
            first: `${place ? `${place.name} ${place.line}:${place.column}` : 'nothing'} was ${told(mine[at])}`,
          }),
    };
  } finally {
    death.remove();
  }
}

let right = 0;
let all = 0;
let silent = 0;
for (const version of versions) {
  const node = join(folder, 'node_modules', `node-${version}`, 'bin', 'node');
  if (!existsSync(node)) {
    console.log(`${version}: not installed: npm ci --prefix test/core-nodes`);
    process.exitCode = 1;
    continue;
  }
  const words: string[] = [];
  const isBuiltIn = hasMaglev(node);
  for (const tier of Object.keys(modes) as Tier[]) {
    if (tier === 'maglev' && !isBuiltIn) {
      words.push('no Maglev in it');
      continue;
    }
    let tierRight = 0;
    let tierAll = 0;
    let reached = 0;
    const notes: string[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const result = await compare(
        node,
        tier,
        seed,
        isBuiltIn ? [tier === 'maglev' ? '--maglev' : '--no-maglev'] : [],
      );
      const { verdict, gaps } = result.account;
      tierRight += result.right;
      tierAll += result.all;
      if (result.tiers.has(tier)) reached++;
      const isSure = verdict?.confidence === 'certain' && gaps.length === 0;
      if (result.first && isSure) silent++;
      if (result.first)
        notes.push(`${isSure ? 'WRONG' : 'wrong, and says so'}: seed ${seed}: ${result.first}`);
      for (const { part, reason } of gaps) notes.push(`${part}: ${reason}`);
    }
    right += tierRight;
    all += tierAll;
    words.push(
      `${tier} ${tierRight} of ${tierAll}${reached < seeds ? ` (tier reached by ${reached} of ${seeds})` : ''}`,
      ...[...new Set(notes)].map((note) => `\n    ${note}`),
    );
    if (reached < seeds) process.exitCode = 1;
  }
  console.log(`${version}: ${words.join(', ').replaceAll(', \n', '\n').replaceAll('\n    ,', ',')}`);
}
console.log(
  `${right} of ${all} frames as V8 has them, on ${versions.length} versions; ${silent} cores wrong and certain`,
);
if (silent > 0 || right < all) process.exitCode = 1;
