/**
 * The journal's cost compared with the plain system call that it can't avoid: `npm run bench:journal`. The same bytes (frame
 * and payload) go to `fs.writeSync`, in alternating rounds, so that a noisy machine affects both alike.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealFor } from '../../../src/capture/recording/flight-seal.ts';
import { recordFrame } from '../../../src/journal/layout/journal.ts';
import { readJournal } from '../../../src/journal/read/reader.ts';
import { type JournalWriter, openJournal } from '../../../src/journal/write/writer.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
const payload = 'x'.repeat(200);
const bytes = Buffer.from(payload);
const appendsPerRound = 20_000;
const rounds = 9;

function quantile(times: number[], q: number): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * q)] ?? 0;
}

/** Microseconds of each call. */
function timeEach(call: () => void): number[] {
  const times: number[] = [];
  for (let i = 0; i < appendsPerRound; i++) {
    const start = process.hrtime.bigint();
    call();
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  return times;
}

function recordsPerSecond(count: number, call: () => void): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < count; i++) call();
  return (count * 1e9) / Number(process.hrtime.bigint() - start);
}

function benchOne(journal: JournalWriter, name: string): void {
  const framed = Buffer.alloc(recordFrame.bytes + bytes.length, 120);
  const bareFd = openSync(join(dir, `bare ${name}`), 'wx');
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const ownRound = timeEach(() => journal.append(32, payload));
    const bareRound = timeEach(() => writeSync(bareFd, framed));
    if (round > 0) own.push(...ownRound);
    if (round > 0) bare.push(...bareRound);
  }
  closeSync(bareFd);
  for (const [what, q] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const [a, b] = [quantile(own, q), quantile(bare, q)];
    console.log(
      `${name} 200 B ${what}: ${a.toFixed(2)} µs, bare writeSync ${b.toFixed(2)} µs, ratio ${(a / b).toFixed(2)}`,
    );
  }
}

const journal = openJournal({ dir: join(dir, 'one'), sessionId: 'bench' });
benchOne(journal, 'append');
const seal = sealFor({ kind: 'recipients', publicKeys: [randomBytes(32)] });
benchOne(openJournal({ dir: join(dir, 'sealed'), sessionId: 'bench', seal }), 'sealed append');
const many = openJournal({ dir: join(dir, 'many'), sessionId: 'bench', maxBytes: 1e9, segmentBytes: 64e6 });
for (const [name, what] of [
  ['string', payload],
  ['bytes', bytes],
] as const) {
  recordsPerSecond(100_000, () => many.appendBuffered(32, what));
  const rate = recordsPerSecond(1_000_000, () => many.appendBuffered(32, what));
  console.log(`buffered, 200 B ${name}: ${Math.round(rate).toLocaleString('en')} records/s`);
}
many.flush();
const start = process.hrtime.bigint();
let count = 0;
for (const _ of readJournal(join(dir, 'many')).records) count++;
const rate = (count * 1e9) / Number(process.hrtime.bigint() - start);
console.log(`read ${count.toLocaleString('en')} records: ${Math.round(rate).toLocaleString('en')} records/s`);
rmSync(dir, { recursive: true });
