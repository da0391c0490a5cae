/**
 * The redactor's figures: recall by class and altered look-alikes on a corpus generated from a seed; then, on each Node of
 * test/nodes, its speed on text with 300 known values and on a heap snapshot, as ratios to baselines in the same run, and how
 * its time grows on hostile input. `npm run bench:redaction [-- seed]` after a build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostilePieces } from '../../support/hostile/hostile-texts.ts';
import { makeCorpus } from '../../support/secrets/secret-corpus.ts';
import { makeForms } from '../../support/secrets/secret-forms.ts';
import { scoreCorpus } from '../../support/secrets/secret-score.ts';
import { makeSampleText } from '../../support/synth/sample-text.ts';
import { fillTemplate, SeededRandom } from '../../support/synth/seeded-random.ts';
import * as first from '../../support/unseen/forms/set-01.ts';
import * as second from '../../support/unseen/forms/set-02.ts';
import * as third from '../../support/unseen/forms/set-03.ts';
import * as fourth from '../../support/unseen/forms/set-04.ts';
import * as fifth from '../../support/unseen/forms/set-05.ts';
import * as sixth from '../../support/unseen/forms/set-06.ts';
import * as seventh from '../../support/unseen/forms/set-07.ts';
import * as eighth from '../../support/unseen/forms/set-08.ts';
import * as ninth from '../../support/unseen/forms/set-09.ts';
import * as tenth from '../../support/unseen/forms/set-10.ts';
import * as eleventh from '../../support/unseen/forms/set-11.ts';
import * as twelfth from '../../support/unseen/forms/set-12.ts';
import * as thirteenth from '../../support/unseen/forms/set-13.ts';
import * as fourteenth from '../../support/unseen/forms/set-14.ts';
import * as fifteenth from '../../support/unseen/forms/set-15.ts';
import * as sixteenth from '../../support/unseen/forms/set-16.ts';
import * as seventeenth from '../../support/unseen/forms/set-17.ts';
import * as eighteenth from '../../support/unseen/forms/set-18.ts';
import * as nineteenth from '../../support/unseen/forms/set-19.ts';
import * as twentieth from '../../support/unseen/forms/set-20.ts';
import * as twentyFirst from '../../support/unseen/forms/set-21.ts';
import * as twentySecond from '../../support/unseen/forms/set-22.ts';
import * as twentyThird from '../../support/unseen/forms/set-23.ts';
import * as twentyFourth from '../../support/unseen/forms/set-24.ts';
import * as besideFourth from '../../support/unseen/look-alikes/set-04.ts';
import * as besideFifth from '../../support/unseen/look-alikes/set-05.ts';
import * as besideSixth from '../../support/unseen/look-alikes/set-06.ts';
import * as besideSeventh from '../../support/unseen/look-alikes/set-07.ts';
import * as besideEighth from '../../support/unseen/look-alikes/set-08.ts';
import * as besideNinth from '../../support/unseen/look-alikes/set-09.ts';
import * as besideTenth from '../../support/unseen/look-alikes/set-10.ts';
import * as besideEleventh from '../../support/unseen/look-alikes/set-11.ts';
import * as besideTwelfth from '../../support/unseen/look-alikes/set-12.ts';
import * as besideThirteenth from '../../support/unseen/look-alikes/set-13.ts';
import * as besideFourteenth from '../../support/unseen/look-alikes/set-14.ts';
import * as besideFifteenth from '../../support/unseen/look-alikes/set-15.ts';
import * as besideSeventeenth from '../../support/unseen/look-alikes/set-17.ts';
import * as besideEighteenth from '../../support/unseen/look-alikes/set-18.ts';
import * as besideNineteenth from '../../support/unseen/look-alikes/set-19.ts';
import * as besideTwentieth from '../../support/unseen/look-alikes/set-20.ts';
import * as besideTwentyFirst from '../../support/unseen/look-alikes/set-21.ts';
import * as besideTwentySecond from '../../support/unseen/look-alikes/set-22.ts';
import * as besideTwentyThird from '../../support/unseen/look-alikes/set-23.ts';
import * as besideTwentyFourth from '../../support/unseen/look-alikes/set-24.ts';
import { makeUnseen, makeUnseenLookAlikes } from '../../support/unseen/unseen-forms.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const built = join(root, 'dist', 'redaction', 'index.js');
const seed = Number(process.argv[2] ?? 20_261_121);

async function printQuality(): Promise<void> {
  const { redact } = (await import(built)) as typeof import('../../../src/redaction/index.ts');
  console.log(`corpus of seed ${seed}`);
  for (const { right, total } of scoreCorpus(makeForms(seed), (text) => redact(text)).values())
    console.log(
      `  ${'240 forms'.padEnd(13)} ${String(total).padStart(5)}  found   ${((100 * right) / total).toFixed(2)} %`,
    );
  for (const [name, groups] of [
    ['first set', first],
    ['second set', second],
    ['third set', third],
    ['fourth set', fourth],
    ['fifth set', fifth],
    ['sixth set', sixth],
    ['seventh set', seventh],
    ['eighth set', eighth],
    ['ninth set', ninth],
    ['tenth set', tenth],
    ['eleventh set', eleventh],
    ['twelfth set', twelfth],
    ['thirteenth set', thirteenth],
    ['fourteenth set', fourteenth],
    ['fifteenth set', fifteenth],
    ['sixteenth set', sixteenth],
    ['seventeenth set', seventeenth],
    ['eighteenth set', eighteenth],
    ['nineteenth set', nineteenth],
    ['twentieth set', twentieth],
    ['twenty-first set', twentyFirst],
    ['twenty-second set', twentySecond],
    ['twenty-third set', twentyThird],
    ['twenty-fourth set', twentyFourth],
  ] as const)
    for (const { right, total } of scoreCorpus(makeUnseen({ ...groups }, seed, 4), (text) =>
      redact(text),
    ).values())
      console.log(
        `  ${name.padEnd(13)} ${String(total).padStart(5)}  found   ${((100 * right) / total).toFixed(2)} %`,
      );
  for (const [name, groups] of [
    ['beside fourth', besideFourth],
    ['beside fifth', besideFifth],
    ['beside sixth', besideSixth],
    ['beside seventh', besideSeventh],
    ['beside eighth', besideEighth],
    ['beside ninth', besideNinth],
    ['beside tenth', besideTenth],
    ['beside eleventh', besideEleventh],
    ['beside twelfth', besideTwelfth],
    ['beside thirteenth', besideThirteenth],
    ['beside fourteenth', besideFourteenth],
    ['beside fifteenth', besideFifteenth],
    ['beside seventeenth', besideSeventeenth],
    ['beside eighteenth', besideEighteenth],
    ['beside nineteenth', besideNineteenth],
    ['beside twentieth', besideTwentieth],
    ['beside twenty-first', besideTwentyFirst],
    ['beside twenty-second', besideTwentySecond],
    ['beside twenty-third', besideTwentyThird],
    ['beside twenty-fourth', besideTwentyFourth],
  ] as const)
    for (const { right, total } of scoreCorpus(makeUnseenLookAlikes({ ...groups }, seed, 2), (text) =>
      redact(text),
    ).values())
      console.log(
        `  ${name.padEnd(13)} ${String(total).padStart(5)}  changed ${((100 * (total - right)) / total).toFixed(2)} %`,
      );
  for (const [name, score] of scoreCorpus(makeCorpus(seed, 3), (text, known) => redact(text, { known }))) {
    const share = (100 * score.right) / score.total;
    const what =
      name === 'look-alike' ? `changed ${(100 - share).toFixed(2)} %` : `found   ${share.toFixed(2)} %`;
    console.log(`  ${name.padEnd(13)} ${String(score.total).padStart(5)}  ${what}`);
    for (const { item } of score.wrong.slice(0, 5)) console.log(`      wrong: ${item.label}`);
  }
}

/** The same corpus, and a megabyte of text, through secretlint's recommended rules, with masking of their findings. */
async function printPeer(): Promise<void> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };
  const mask = async (content: string): Promise<string> => {
    const source = { filePath: 'a.txt', content, ext: '.txt', contentType: 'text' as const };
    const { messages } = await lintSource({ source, options: { config } });
    return messages.reduceRight(
      (text, { range: [start, end] }) =>
        `${text.slice(0, start)}${'*'.repeat(end - start)}${text.slice(end)}`,
      content,
    );
  };
  const items = makeCorpus(seed);
  const masked = new Map<string, string>();
  for (const { text } of items) masked.set(text, await mask(text));
  console.log('the same through secretlint, masked');
  for (const [name, { right, total }] of scoreCorpus(items, (text) => masked.get(text) ?? text)) {
    const share = (100 * right) / total;
    const what =
      name === 'look-alike' ? `changed ${(100 - share).toFixed(2)} %` : `found   ${share.toFixed(2)} %`;
    console.log(`  ${name.padEnd(13)} ${String(total).padStart(5)}  ${what}`);
  }
  const { redact } = (await import(built)) as typeof import('../../../src/redaction/index.ts');
  const text = makeSampleText(seed, 1 << 20);
  const theirs = await timeOf(() => mask(text));
  const ours = await timeOf(async () => redact(text));
  const speed = (ms: number): string => `${(text.length / 1000 / ms).toFixed(0)} MB/s`;
  console.log(`  speed on 1 MB of text: secretlint ${speed(theirs)}, agentdump ${speed(ours)}`);
}

/** The best of three, in milliseconds. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const from = performance.now();
    await run();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

/** The input for every Node: generated here once, because they can't all run TypeScript. */
function writeInput(folder: string): void {
  const random = new SeededRandom(seed);
  const templates = ['{A24}', '{h32}', '{A8}-{w16}', '{a20}', '{A12}!{b20}'];
  const known = Array.from({ length: 300 }, () => fillTemplate(random.pick(templates), random));
  writeFileSync(
    join(folder, 'input.json'),
    JSON.stringify({ known, text: makeSampleText(seed, 4 << 20), hostilePieces }),
  );
}

if (!existsSync(built)) throw new Error('run `npm run build` first');
await printQuality();
await printPeer();
const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
try {
  writeInput(folder);
  for (const version of ['20', '22', '24', '26']) {
    const node = join(root, 'test', 'nodes', 'node_modules', `node-${version}`, 'bin', 'node');
    const script = join(root, 'test', 'bench', 'redaction', 'redaction-speed.mjs');
    if (existsSync(node)) spawnSync(node, [script, built, folder], { stdio: 'inherit' });
  }
} finally {
  rmSync(folder, { recursive: true });
}
