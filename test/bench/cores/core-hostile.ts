/**
 * Damaged cores in bulk: a real core truncated at every 64 KB that isn't a hole, random flips in it, pages of zeros, notes in
 * another order, build ids of no file, another machine's header, wrong counts, an executable of another build. Each must give a clear error or a partial account; anything else ends
 * this with an error. Prints the number of each outcome, the longest time, the highest memory of one core beyond what the
 * process had, and that of the process. `npm run fuzz:core [flips] [seed] [path of a Node] [part of a title]`; by a part of a
 * title only those of the kinds are tried, and an empty path is the oldest Node.
 */
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { accountForCore, accountForDump, type CoreOptions } from '../../../src/analysis/core/core-account.ts';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { touchBlockBytes } from '../../../src/bytes/memory.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderCore } from '../../../src/report/core.ts';
import { makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { differences, judge, toldBy, wrong } from '../../support/cores/told-by-core.ts';
import { SeededRandom } from '../../support/synth/seeded-random.ts';

if (noCores) {
  console.log(`skipped: ${noCores}`);
  process.exit(0);
}
const flips = Number(process.argv[2] ?? 100);
const random = new SeededRandom(Number(process.argv[3] ?? 11));
const step = 64 << 10;
const executable = process.argv[4] || (nodes[0]?.path ?? '');
const wantedTitle = process.argv[5] ?? '';
const death = makeCore(executable, [join(victims, 'deaths.cjs'), 'read-null']);
const { size } = statSync(death.core);
const copy = join(dirname(death.core), 'damaged');
let longestMs = 0;
let largestKb = 0;
let mostKb = 0;

const peakKb = () => Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0);
/** Resets the peak of memory (proc(5)). */
const forgetPeak = () => writeFileSync('/proc/self/clear_refs', '5');

const countGaps = ({ gaps }: Account): string => (gaps.length > 0 ? 'partial account' : 'whole account');

async function read(path: string, options: CoreOptions = {}, name = countGaps): Promise<string> {
  const start = performance.now();
  forgetPeak();
  const before = peakKb();
  try {
    const account = await accountForCore(path, options);
    renderCore(account);
    return name(account);
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    return error.code;
  } finally {
    longestMs = Math.max(longestMs, performance.now() - start);
    largestKb = Math.max(largestKb, peakKb() - before);
    mostKb = Math.max(mostKb, peakKb());
  }
}

async function report(what: string, outcomes: AsyncIterable<string>): Promise<void> {
  if (!what.includes(wantedTitle)) return;
  const counts = new Map<string, number>();
  longestMs = 0;
  largestKb = 0;
  for await (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const told = [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
  const megabytes = (kb: number) => `${(kb / 1024).toFixed(0)} MB`;
  console.log(
    `${what}: ${told}; longest ${longestMs.toFixed(0)} ms, most memory for one ${megabytes(largestKb)}, ` +
      `of the process ${megabytes(mostKb)}`,
  );
}

async function* cutOff() {
  copyFileSync(death.core, copy);
  const whole = openSync(death.core, 'r');
  const before = Buffer.alloc(step);
  for (let at = Math.floor(size / step) * step; at >= 0; at -= step) {
    // Within the holes of a sparse core, each truncation is like the previous one.
    if (at >= step && readSync(whole, before, 0, step, at - step) === step && before.every((b) => b === 0))
      continue;
    truncateSync(copy, at);
    yield await read(copy);
  }
}

/** A quarter of the places are in the first 60,000 bytes, which are the headers and notes. */
const anywhere = () => (random.below(4) ? random.below(size) : random.below(60_000));

/** Places in the file that contain the memory from which the stacks are read. */
async function placesRead(): Promise<() => number> {
  const touchedBlocks = new Set<number>();
  const dump = openCoreDump(death.core, { touchedBlocks });
  await accountForDump(dump, { heap: false });
  const { segments } = dump.core;
  dump.close();
  const places = [...touchedBlocks].flatMap((block) => {
    const address = block * touchBlockBytes;
    const held = segments.find((s) => address >= s.start && address < s.start + s.fileSize);
    return held ? [held.fileOffset + address - held.start] : [];
  });
  return () => (places[random.below(places.length)] ?? 0) + random.below(touchBlockBytes);
}

type Change = [offset: number, bytes: Uint8Array];

const oneByteOf = (place: () => number, most: number) => (): Change[] =>
  Array.from({ length: random.below(most) + 1 }, () => [place(), Buffer.from([random.below(256)])]);

const pageBytes = 4096;
const zeroPage = (place: () => number) => (): Change[] => [
  [Math.floor(place() / pageBytes) * pageBytes, Buffer.alloc(pageBytes)],
];

/** Two notes of the kernel change places. */
function swapNotes(): Change[] {
  const { at, bytes } = notesOf();
  const notes: Uint8Array[] = [];
  for (let from = 0; from + 12 <= bytes.length; ) {
    const round = (length: number) => Math.ceil(length / 4) * 4;
    const end = from + 12 + round(bytes.readUInt32LE(from)) + round(bytes.readUInt32LE(from + 4));
    notes.push(bytes.subarray(from, end));
    from = end;
  }
  const [one, two] = [random.below(notes.length), random.below(notes.length)];
  const swapped = notes.map((note, i) => notes[i === one ? two : i === two ? one : i] ?? note);
  return [[at, Buffer.concat(swapped)]];
}

function notesOf(): { at: number; bytes: Buffer } {
  const file = openSync(death.core, 'r');
  const read = (at: number, length: number) => {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, at);
    return bytes;
  };
  // The kernel writes them as the first segment.
  const header = read(Number(read(0, 64).readBigUInt64LE(32)), 56);
  const at = Number(header.readBigUInt64LE(8));
  const bytes = read(at, Number(header.readBigUInt64LE(32)));
  closeSync(file);
  return { at, bytes };
}

/** Where the core contains the build ids of the files that the process had mapped. */
function placesOfBuildIds(): number[] {
  const dump = openCoreDump(death.core);
  const file = openSync(death.core, 'r');
  const places = dump.modules.modules.flatMap(({ start, buildId }) => {
    const held = dump.core.segments.find((s) => start >= s.start && start < s.start + s.fileSize);
    if (!held || !buildId) return [];
    const page = Buffer.alloc(pageBytes);
    readSync(file, page, 0, pageBytes, held.fileOffset + start - held.start);
    const at = page.indexOf(Buffer.from(buildId, 'hex'));
    return at < 0 ? [] : [held.fileOffset + start - held.start + at + random.below(buildId.length / 2)];
  });
  closeSync(file);
  dump.close();
  return places;
}

async function* changed(change: () => Change[]) {
  copyFileSync(death.core, copy);
  const options = { heap: false };
  const truth = toldBy(await accountForCore(copy, options));
  const file = openSync(copy, 'r+');
  for (let round = 0; round < flips; round++) {
    const undo: Change[] = [];
    for (const [at, bytes] of change()) {
      const old = Buffer.alloc(bytes.length);
      readSync(file, old, 0, old.length, at);
      undo.push([at, old]);
      writeSync(file, bytes, 0, bytes.length, at);
    }
    yield await read(copy, options, (account) => {
      const outcome = judge(account, truth);
      if (outcome === wrong) console.log(`round ${round}: ${differences(toldBy(account), truth)}`);
      return outcome;
    });
    for (const [at, old] of undo.reverse()) writeSync(file, old, 0, old.length, at);
  }
}

/** Offsets in the ELF header: machine, number of segments, size of an entry. */
async function* headers() {
  for (const [at, bytes] of [
    [18, [183, 0]],
    [56, [0xff, 0xff]],
    [56, [0xfe, 0xff]],
    [54, [1, 0]],
    [32, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    [4, [1]],
    [5, [2]],
  ] as const) {
    copyFileSync(death.core, copy);
    writeSync(openSync(copy, 'r+'), Buffer.from(bytes), 0, bytes.length, at);
    yield await read(copy);
  }
}

async function* otherBuilds() {
  for (const { path } of nodes) yield await read(death.core, { executable: path });
  yield await read(death.core, { executable: '/bin/sh' });
}

await report(`cut off at every 64 KB of ${(size / 2 ** 20).toFixed(0)} MB`, cutOff());
const memoryRead = await placesRead();
const buildIds = placesOfBuildIds();
const ofBuildId = () => buildIds[random.below(buildIds.length)] ?? 0;
await report(`${flips} times up to 300 changed bytes`, changed(oneByteOf(anywhere, 300)));
await report(`${flips} times one changed byte of the memory that is read`, changed(oneByteOf(memoryRead, 1)));
await report(
  `${flips} times up to 24 changed bytes of the memory that is read`,
  changed(oneByteOf(memoryRead, 24)),
);
await report(`${flips} times a page of zeros in the memory that is read`, changed(zeroPage(memoryRead)));
await report(`${flips} times two notes in each other's place`, changed(swapNotes));
await report(`${flips} times a changed byte of a build id`, changed(oneByteOf(ofBuildId, 1)));
await report('lying headers', headers());
await report('executables, one of them the right build', otherBuilds());
death.remove();
