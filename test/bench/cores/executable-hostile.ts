/**
 * Damaged executables for an intact core: bytes changed in the headers, symbol tables, unwinding tables and constants of a
 * Node that keeps its build id. Each must give a clear error, or an account that is right or says what is missing. Prints the
 * number of each outcome, every account that is wrong without saying so, and the longest time. `npm run fuzz:executable
 * [mutations] [seed]`.
 */
import { copyFileSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { FileSource } from '../../../src/bytes/byte-source.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { readElf } from '../../../src/formats/elf/elf-file.ts';
import { makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { differences, judge, toldBy, wrong } from '../../support/cores/told-by-core.ts';
import { SeededRandom } from '../../support/synth/seeded-random.ts';

if (noCores) {
  console.log(`skipped: ${noCores}`);
  process.exit(0);
}
const mutations = Number(process.argv[2] ?? 200);
const random = new SeededRandom(Number(process.argv[3] ?? 5));
const [, node = nodes[0]] = nodes;
const death = makeCore(node?.path ?? '', [join(victims, 'values.cjs')]);
const damaged = join(dirname(death.core), 'node');
copyFileSync(node?.path ?? '', damaged);
const file = openSync(damaged, 'r+');

/** PT_GNU_EH_FRAME. */
const ehFrameSegment = 0x6474e550;

/**
 * SHT_ numbers of the sections that are read. Names are not read, so .rodata and .eh_frame are among all PROGBITS sections.
 */
const kinds: Readonly<Record<number, string>> = {
  1: 'PROGBITS',
  2: 'SYMTAB',
  3: 'STRTAB',
  6: 'DYNAMIC',
  7: 'NOTE',
  11: 'DYNSYM',
  1879048182: 'GNU_HASH',
};

/** Where a change is likely to matter, as [name, offset, length]. */
const places = ((): [string, number, number][] => {
  const source = new FileSource(damaged);
  const { sections, segments } = readElf(source);
  source.close();
  const head = Buffer.alloc(64);
  readSync(file, head, 0, 64, 0);
  return [
    ['ELF header', 0, 64],
    ['program headers', Number(head.readBigUInt64LE(32)), head.readUInt16LE(56) * 56],
    ['section headers', Number(head.readBigUInt64LE(40)), head.readUInt16LE(60) * 64],
    ...segments
      .filter(({ type }) => type === ehFrameSegment)
      .flatMap(({ offset, fileSize }): [string, number, number][] => [
        ['unwinding index', offset, fileSize],
        ['unwinding table', offset + fileSize, 3 * fileSize],
      ]),
    ...sections
      .filter(({ type }) => type in kinds)
      .map(({ type, offset, size }): [string, number, number] => [kinds[type] ?? '', offset, size])
      .filter(([, , size]) => size > 0),
  ];
})();

/** The constants by which V8 describes itself, one place each. */
const constants = ((): [string, number, number][] => {
  const dump = openCoreDump(death.core, { executable: damaged });
  const { segments } = readElf(new FileSource(damaged));
  const found = dump.modules.modules.flatMap(({ code }) => code?.exportedWithPrefix('v8dbg_') ?? []);
  dump.close();
  return found.flatMap(({ address }): [string, number, number][] => {
    const held = segments.find(
      (s) => address >= s.virtualAddress && address + 4 <= s.virtualAddress + s.fileSize,
    );
    return held ? [['V8 constant', held.offset + address - held.virtualAddress, 4]] : [];
  });
})();

function damage([, offset, length]: [string, number, number]): () => void {
  const undo: [number, Buffer][] = [];
  const isRun = random.below(3) === 0;
  const start = offset + random.below(length);
  for (let i = random.below(isRun ? 64 : 24); i >= 0; i--) {
    const at = isRun ? Math.min(offset + length - 1, start + i) : offset + random.below(length);
    const old = Buffer.alloc(1);
    readSync(file, old, 0, 1, at);
    undo.push([at, old]);
    writeSync(file, Buffer.from([random.below(4) ? random.below(256) : 0]), 0, 1, at);
  }
  return () => {
    for (const [at, old] of undo.reverse()) writeSync(file, old, 0, 1, at);
  };
}

const options = { heap: false, executable: damaged };
const truth = toldBy(await accountForCore(death.core, options));
const counts = new Map<string, number>();
let longestMs = 0;
for (let round = 0; round < mutations; round++) {
  const among = random.below(4) === 0 ? constants : places;
  const place = among[random.below(among.length)] ?? places[0]!;
  const repair = damage(place);
  const start = performance.now();
  let outcome: string;
  try {
    const account = await accountForCore(death.core, options);
    outcome = judge(account, truth);
    if (outcome === wrong) console.log(`round ${round}, ${place[0]}: ${differences(toldBy(account), truth)}`);
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    outcome = `error ${error.code}`;
  }
  longestMs = Math.max(longestMs, performance.now() - start);
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  repair();
}
console.log([...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', '));
console.log(`longest ${longestMs.toFixed(0)} ms`);
death.remove();
