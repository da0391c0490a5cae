// The part of redaction-kinds.ts that runs under each Node: megabytes of each real text a second of processor time, beside
// secretlint and beside one plain regular expression.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [built, folder] = process.argv.slice(2);
const { redact } = await import(pathToFileURL(built));
const { lintSource } = await import('@secretlint/core');
const { creator } = await import('@secretlint/secretlint-rule-preset-recommend');
const texts = JSON.parse(readFileSync(join(folder, 'texts.json'), 'utf8'));
const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };

/** What a program without a redactor would have. */
const naive = /(?:passw(?:or)?d|secret|token|api[-_]?key|authorization)["']?\s{0,4}[:=]/gi;

/**
 * Milliseconds of processor time of all threads, the best of the runs that fit into a second and a half, but of three at least: the
 * same for all, because the first runs are slower until the code is compiled.
 */
async function time(work) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0, spent = 0; run < 3 || (spent < 1500 && run < 40); run++) {
    const from = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(from);
    spent += (user + system) / 1000;
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

console.log(`\nNode ${process.version}   (MB/s)   agentdump  secretlint  one regex   places changed by each`);
for (const [kind, text] of Object.entries(texts)) {
  const source = { filePath: 'a.txt', content: text, ext: '.txt', contentType: 'text' };
  let shown = '';
  let messages = [];
  const ours = await time(() => {
    shown = redact(text);
  });
  const theirs = await time(async () => {
    ({ messages } = await lintSource({ source, options: { config } }));
  });
  const plain = await time(() => text.replace(naive, '='));
  const speed = (ms) => (text.length / 1000 / ms).toFixed(0);
  const changed = shown.split('[redacted:').length - text.split('[redacted:').length;
  console.log(
    `  ${kind.padEnd(26)} ${speed(ours).padStart(9)} ${speed(theirs).padStart(11)} ${speed(plain).padStart(10)}   ${changed}, ${messages.length}`,
  );
}
