/** "Certain" means complete: if the frames of a core have a fault, it is reported, and the verdict is less than certain. */
import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { type CoreDump, openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { openV8 } from '../../../src/analysis/core/javascript/v8-runtime.ts';
import { x64 } from '../../../src/analysis/core/native/machine-x64.ts';
import { findSymbol } from '../../../src/analysis/core/native/native-names.ts';
import { type NativeFrame, walkNativeStack } from '../../../src/analysis/core/native/native-stack.ts';
import { describeThread } from '../../../src/analysis/core/thread-stack.ts';
import { type LayoutRow, layoutRows } from '../../../src/formats/v8/heap/layout-rows.ts';
import { findLayout, resolveLayout } from '../../../src/formats/v8/heap/object-layout.ts';
import type { Account } from '../../../src/model/account.ts';
import type { Gap } from '../../../src/model/verdict.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { parseTruth, type TruePlace } from '../../support/cores/frame-truth.ts';
import { sampleOf } from '../../support/run/test-nodes.ts';

const generated = '/generated/frames.js';

const placesOf = (account: Pick<Account, 'threads'>) =>
  (account.threads?.[0]?.frames ?? [])
    .filter((frame) => frame.file === generated)
    .map(({ line, column }) => `${line}:${column}`);
const textOf = (truth: TruePlace[]) => truth.map(({ line, column }) => `${line}:${column}`);
const saysOf = (gaps: readonly Gap[]) => gaps.map(({ reason }) => reason).join('\n');

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let truth: TruePlace[];
    let folder: string;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'agentdump-doubts-'));
      const args = ['--no-concurrent-recompilation', join(victims, 'frames.cjs'), '5', '40', '20000'];
      death = makeCore(node.path, args);
      truth = parseTruth(death.stdout).filter((place) => place.file === generated);
    });
    after(() => {
      death?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    /** A copy of the executable without its symbol table. */
    const stripped = () => {
      const path = join(folder, 'node');
      if (!existsSync(path)) {
        copyFileSync(node.path, path);
        removeSymbolTable(path);
      }
      return path;
    };

    test('a stack that is zero from some address on has not ended there', () => {
      const dump = openCoreDump(death.core);
      try {
        const [thread] = dump.core.threads;
        assert.ok(thread);
        const { memory, machine, modules, core } = dump;
        const [, , third] = walkNativeStack(machine.registersOf(thread), dump).frames;
        const [from, to] = [thread.stackPointer, third?.stackPointer ?? 0];
        const readBigWord = (at: number) => (at >= from && at < to ? 0n : memory.readBigWord(at));
        const torn = Object.assign(Object.create(memory), {
          readBigWord,
          readWord: (at: number) => Number(readBigWord(at)),
          findWord: (at: number) => (at >= from && at < to ? 0 : memory.findWord(at)),
          has: (at: number, length: number) => memory.has(at, length),
        });
        const space = { machine, modules, core, memory: torn };
        assert.match(walkNativeStack(machine.registersOf(thread), space).stopped ?? '', /is zero/);
      } finally {
        dump.close();
      }
    });

    test('nothing is wrong with it', async () => {
      const account = await accountForCore(death.core, { heap: false });
      assert.deepEqual(placesOf(account), textOf(truth));
      const part = `stack of thread ${account.threads?.[0]?.id}`;
      assert.deepEqual(
        account.gaps.filter((gap) => gap.part === part),
        [],
      );
      assert.equal(account.verdict?.confidence, 'certain');
    });

    test('a stripped executable: a gap for the names, and the verdict is less than certain', async () => {
      const account = await accountForCore(death.core, { heap: false, executable: stripped() });
      assert.match(saysOf(account.gaps), /has no symbols for them/);
      assert.equal(account.verdict?.confidence, 'likely');
    });

    test('a stripped executable: every line of what is interpreted', async () => {
      // In optimised code, the tables of inlined functions are found by symbol names, which stripping may remove.
      const own = makeCore(node.path, [join(victims, 'frames.cjs'), '5', '40', '0']);
      try {
        const account = await accountForCore(own.core, { heap: false, executable: stripped() });
        const wanted = parseTruth(own.stdout).filter((place) => place.file === generated);
        assert.deepEqual(placesOf(account), textOf(wanted));
      } finally {
        own.remove();
      }
    });

    test('an executable whose segments were moved, as `strip` does', async () => {
      const path = join(folder, 'moved');
      copyFileSync(node.path, path);
      moveSegments(path);
      const [moved, same] = [path, node.path].map((executable) =>
        accountForCore(death.core, { heap: false, executable }),
      );
      const framesOf = ({ threads }: Account) =>
        threads?.map(({ frames }) =>
          frames.map(({ function: name, file, line, source }) => [name, file, line, source]),
        );
      assert.deepEqual(framesOf((await moved) as Account), framesOf((await same) as Account));
    });

    test('a return address that no call can have left', async () => {
      const restore = damageReturnAddress(death.core);
      const account = await accountForCore(death.core, { heap: false });
      restore();
      assert.match(saysOf(account.gaps), /no call stands before the return address/);
      assert.equal(account.verdict?.confidence, 'likely');
    });

    test('a letter of a name, and of a source if V8 has hashed it: the text is not the one that was hashed', async () => {
      const own = makeCore(node.path, [join(victims, 'deaths.cjs'), 'read-null']);
      const told = async (text: string, other: string) => {
        const restore = changeText(own.core, text, other);
        const account = await accountForCore(own.core, { heap: false });
        restore();
        return account;
      };
      try {
        const whole = await accountForCore(own.core, { heap: false });
        assert.deepEqual(whole.gaps, []);
        const renamed = await told(
          'fixtures/programs/native/deaths.cjs',
          'fixtures/programs/native/heaths.cjs',
        );
        assert.match(saysOf(renamed.gaps), /a file's name is not the text that V8 hashed/);
        assert.equal(renamed.verdict?.confidence, 'likely');
        if (node.major < 22) return;
        const line = '\nclass Agent {';
        const joined = await told(line, line.replace('\n', ';'));
        assert.match(saysOf(joined.gaps), /the source of a script is not the text that V8 hashed/);
        assert.equal(joined.verdict?.confidence, 'likely');
      } finally {
        own.remove();
      }
    });

    for (const [kind, count] of sampleOf(
      [
        ['derived', 2],
        ['base', 1],
      ] as const,
      2,
    ))
      test(`nothing is wrong with ${count} deoptimised \`new\`, but a byte further there is`, async () => {
        const own = makeCore(node.path, [
          '--allow-natives-syntax',
          join(victims, 'deoptimised-new.cjs'),
          kind,
        ]);
        try {
          const account = await accountForCore(own.core, { heap: false });
          const frames = account.threads?.[0]?.frames ?? [];
          const names = frames.filter(({ file }) => file?.endsWith('deoptimised-new.cjs'));
          const wanted = { base: ['makeOrder'], derived: ['new Shipped', 'makeShipped'] }[kind];
          assert.deepEqual(
            names.map((frame) => frame.function),
            ['end', 'new Order', ...wanted, 'Object.<anonymous>'],
          );
          assert.deepEqual(account.gaps, []);
          assert.equal(account.verdict?.confidence, 'certain');
          assert.equal(deoptimisedNews(own.core).length, count);
          const restore = damageReturnAddress(own.core, (all) => all.find(isDeoptimisedNew));
          const damaged = await accountForCore(own.core, { heap: false });
          restore();
          assert.match(saysOf(damaged.gaps), /no call stands before the return address/);
        } finally {
          own.remove();
        }
      });

    test('a number of the table of layouts that is wrong gives no other place without saying so', () => {
      const dump = openCoreDump(death.core);
      for (const [name, value] of sampleOf([...wrongNumbers(rowOf(dump))], 3)) {
        const gaps: Gap[] = [];
        const account = describeWith(dump, { [name]: value }, gaps);
        const isRight = JSON.stringify(placesOf(account)) === JSON.stringify(textOf(truth));
        assert.ok(isRight || gaps.length > 0, `${name} ${JSON.stringify(value)}`);
      }
      dump.close();
    });
  });

function rowOf(dump: CoreDump): LayoutRow {
  let row: LayoutRow | undefined;
  openV8(dump, [], (metadata, version) => {
    row = layoutRows.findLast(({ from }) => from <= version.major * 100 + version.minor);
    return findLayout(metadata, version);
  });
  return row ?? assert.fail('no row');
}

function* wrongNumbers(row: LayoutRow): Generator<[keyof LayoutRow, unknown]> {
  for (const name of [
    'bytecodePositions',
    'codeDeoptimizationData',
    'codePositions',
    'safepointHeader',
  ] as const)
    for (const by of [-8, -4, 4, 8, 16]) yield [name, row[name] + by];
  for (const name of ['codeFlags', 'codeInstructionSize'] as const)
    for (const by of [-8, -4, 4, 8]) yield [name, row[name] + by];
  yield ['functionData', [24]];
  yield ['unsignedPositionDeltas', !row.unsignedPositionDeltas];
  yield ['signedHeights', !row.signedHeights];
  for (const other of layoutRows) yield ['translation', other.translation];
}

function describeWith(dump: CoreDump, changed: Partial<LayoutRow>, gaps: Gap[]): Pick<Account, 'threads'> {
  const v8 = openV8(dump, gaps, (metadata, { major, minor }) =>
    resolveLayout(metadata, { ...rowOf(dump), ...changed }, major * 100 + minor),
  );
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  return { threads: [describeThread(dump, thread, { v8, crashed: true, values: false, gaps })] };
}

/** Has the effect of `strip` for a reader: the symbol section gets the type of an unused one. */
function removeSymbolTable(path: string): void {
  const file = openSync(path, 'r+');
  const head = Buffer.alloc(64);
  readSync(file, head, 0, 64, 0);
  const [sections, entryBytes, count] = [
    Number(head.readBigUInt64LE(40)),
    head.readUInt16LE(58),
    head.readUInt16LE(60),
  ];
  const table = Buffer.alloc(entryBytes * count);
  readSync(file, table, 0, table.length, sections);
  const SHT_SYMTAB = 2;
  for (let at = 0; at < table.length; at += entryBytes)
    if (table.readUInt32LE(at + 4) === SHT_SYMTAB) table.writeUInt32LE(0, at + 4);
  writeSync(file, table, 0, table.length, sections);
  closeSync(file);
}

/** Puts what each loaded segment but the first holds at the end of the file, and nothing where it was. */
function moveSegments(path: string): void {
  const [entryBytes, PT_LOAD, page] = [56, 1, 4096];
  const file = openSync(path, 'r+');
  const head = Buffer.alloc(4096);
  readSync(file, head, 0, head.length, 0);
  const start = Number(head.readBigUInt64LE(32));
  const entries = Array.from({ length: head.readUInt16LE(56) }, (_, i) => start + i * entryBytes);
  let end = Math.ceil(fstatSync(file).size / page) * page;
  for (const at of entries) {
    const offset = Number(head.readBigUInt64LE(at + 8));
    if (head.readUInt32LE(at) !== PT_LOAD || offset === 0) continue;
    const bytes = Buffer.alloc(Number(head.readBigUInt64LE(at + 32)));
    readSync(file, bytes, 0, bytes.length, offset);
    const target = end + (offset % page);
    writeSync(file, bytes, 0, bytes.length, target);
    writeSync(file, Buffer.alloc(bytes.length), 0, bytes.length, offset);
    // Other entries (tables, notes) lie within loaded segments, and move with them.
    for (const inside of entries) {
      const its = Number(head.readBigUInt64LE(inside + 8));
      if (its < offset || its >= offset + bytes.length || inside === at) continue;
      const word = Buffer.alloc(8);
      word.writeBigUInt64LE(BigInt(its - offset + target));
      writeSync(file, word, 0, 8, inside + 8);
    }
    const word = Buffer.alloc(8);
    word.writeBigUInt64LE(BigInt(target));
    writeSync(file, word, 0, 8, at + 8);
    end = Math.ceil((target + bytes.length) / page) * page;
  }
  closeSync(file);
}

/** Whether the frame is that of `new`, and the deoptimizer made it: there is no call before where it returns to. */
function isDeoptimisedNew(frame: NativeFrame): boolean {
  const address = frame.location?.address;
  const before = frame.location?.module.code?.findBytes(
    (address ?? 0) + 1 - x64.longestCall,
    x64.longestCall,
  );
  return /^Builtins_.*Construct/.test(findSymbol(frame)?.name ?? '') && !!before && !x64.endsInCall(before);
}

function deoptimisedNews(core: string): NativeFrame[] {
  const dump = openCoreDump(core);
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  const found = walkNativeStack(dump.machine.registersOf(thread), dump).frames.filter(isDeoptimisedNew);
  dump.close();
  return found;
}

/** Moves the return address of a frame by one, by default the third's. Returns a function that restores it. */
function damageReturnAddress(
  core: string,
  choose = (frames: NativeFrame[]): NativeFrame | undefined => frames[2],
): () => void {
  const dump = openCoreDump(core);
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  const { frames } = walkNativeStack(dump.machine.registersOf(thread), dump);
  const wanted = choose(frames) ?? assert.fail('no frame');
  let at = Math.ceil((frames[0]?.stackPointer ?? 0) / 8) * 8;
  while (dump.memory.readWord(at) !== wanted.programCounter) at += 8;
  const segment =
    dump.core.segments.find(({ start, end }) => at >= start && at < end) ?? assert.fail('no segment');
  dump.close();
  const write = (value: number) => {
    const word = Buffer.alloc(8);
    word.writeBigUInt64LE(BigInt(value));
    const file = openSync(core, 'r+');
    writeSync(file, word, 0, 8, segment.fileOffset + at - segment.start);
    closeSync(file);
  };
  write(wanted.programCounter + 1);
  return () => write(wanted.programCounter);
}

/** Overwrites a text with another of the same length wherever it is in the core. Returns a function that restores it. */
function changeText(core: string, text: string, other: string): () => void {
  const bytes = readFileSync(core);
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  assert.ok(places.length > 0, text);
  const write = (by: string) => {
    const file = openSync(core, 'r+');
    for (const at of places) writeSync(file, Buffer.from(by), 0, by.length, at);
    closeSync(file);
  };
  write(other);
  return () => write(text);
}
