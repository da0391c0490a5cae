// The part of redaction.ts that runs under each Node: megabytes a second, ratios to baselines, growth on hostile input.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeHeapSnapshot } from 'node:v8';

const [built, folder] = process.argv.slice(2);
const { redact, createSnapshotRedactor } = await import(pathToFileURL(built));
const { known, text, hostilePieces } = JSON.parse(readFileSync(join(folder, 'input.json'), 'utf8'));

/** Best of several runs, in milliseconds of CPU, so that other programs on the machine do not count. */
function time(work, runs = 7) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) best = Math.min(best, timeOnce(work));
  return best;
}

/** The mean of as many calls as fill 20 ms: less is noise. */
function timeOnce(work) {
  const start = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    work();
    const { user, system } = process.cpuUsage(start);
    if (user + system > 20_000) return (user + system) / 1000 / calls;
  }
}

const speed = (bytes, ms) => `${(bytes / 1e3 / ms).toFixed(0).padStart(5)} MB/s`;
const literal = (value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

console.log(`\nNode ${process.version}`);
const alternation = new RegExp(known.map(literal).join('|'), 'g');
const baseline = time(() => text.replace(alternation, '[redacted]'));
const whole = time(() => redact(text, { known }));
const shapesOnly = time(() => redact(text));
console.log(
  `  text, 300 known values   ${speed(text.length, whole)}   ${(baseline / whole).toFixed(1)} x one regex of the 300 plain values`,
);
console.log(`  text, none known         ${speed(text.length, shapesOnly)}`);
const noisy = known
  .map((value, i) => `${text.slice(i * 300, i * 300 + 300)} password="${value}" ${value}\n`)
  .join('');
console.log(
  `  a secret every 180 chars ${speed(
    noisy.length,
    time(() => redact(noisy, { known })),
  )}`,
);

globalThis.kept = Array.from({ length: 150_000 }, (_, i) => ({ id: i, name: `user ${i}`, tell: () => i }));
const file = writeHeapSnapshot(join(folder, `${process.version}.heapsnapshot`));
globalThis.kept = undefined;
const snapshot = readFileSync(file);
const parse = time(() => JSON.parse(snapshot.toString('latin1')), 2);
const redacted = time(() => {
  const redactor = createSnapshotRedactor({ strings: 'names' });
  for (let i = 0; i < snapshot.length; i += 65_536) redactor.write(snapshot.subarray(i, i + 65_536));
  redactor.end();
}, 4);
console.log(
  `  heap snapshot            ${speed(snapshot.length, redacted)}   ${(parse / redacted).toFixed(1)} x JSON.parse of it`,
);

let worst = 0;
const slow = [];
for (const [name, piece] of Object.entries(hostilePieces)) {
  const make = (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  const [one, two] = [make(1 << 20), make(2 << 20)];
  const once = time(() => redact(one, { known }), 4);
  const growth = time(() => redact(two, { known }), 4) / once;
  worst = Math.max(worst, growth);
  if (growth > 2.5 || once > 100)
    slow.push(
      `      ${name}: ${once.toFixed(0)} ms for 1 MB, twice the input ${growth.toFixed(2)} x the time`,
    );
}
console.log(
  `  hostile input            twice the input at most ${worst.toFixed(2)} x the time over ${Object.keys(hostilePieces).length} texts`,
);
for (const line of slow) console.log(line);
