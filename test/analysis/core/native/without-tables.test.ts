/**
 * Stacks through a C library without unwinding tables, as musl is built: the same as with them. And frames whose size is not that of
 * their code: a frame pointer that C++ saved was overwritten with that of another frame.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type CoreDump, openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { openV8 } from '../../../../src/analysis/core/javascript/v8-runtime.ts';
import type { ModuleCode } from '../../../../src/analysis/core/native/module-code.ts';
import { ModuleMap } from '../../../../src/analysis/core/native/module-map.ts';
import { walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';
import { describeThread } from '../../../../src/analysis/core/thread-stack.ts';
import { bytesSource } from '../../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../../src/bytes/memory.ts';
import { computeFrameRow } from '../../../../src/formats/dwarf-cfi/frame-row.ts';
import type { Gap } from '../../../../src/model/verdict.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { sampleOf } from '../../../support/run/test-nodes.ts';

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let dump: CoreDump;
    before(() => {
      death = makeCore(node.path, [join(victims, 'deaths.cjs'), 'abort']);
      dump = openCoreDump(death.core);
    });
    after(() => {
      dump?.close();
      death?.remove();
    });

    const stacks = () =>
      dump.core.threads.map((thread) => {
        const { frames, stopped } = walkNativeStack(dump.machine.registersOf(thread), dump);
        assert.equal(stopped, undefined);
        return frames.map(({ programCounter }) => programCounter.toString(16));
      });

    test('each stack is the same without the tables of the C library', () => {
      const truth = stacks();
      const library = dump.modules.modules.find(({ path }) => /\/libc\.so/.test(path));
      assert.ok(library?.code);
      const { code } = library;
      const withoutTables: Partial<ModuleCode> = { findFrame: () => undefined };
      library.code = new Proxy(code, {
        get: (target, name) => {
          const value = Reflect.get(withoutTables, name) ?? Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      const found = stacks();
      library.code = code;
      // What called the program, or started a thread, may be the last frame with tables only.
      found.forEach((counters, i) => {
        const wanted = truth[i] ?? [];
        assert.deepEqual(counters, wanted.slice(0, counters.length));
        assert.ok(counters.length >= wanted.length - 1, `${counters.length} of ${wanted.length}`);
      });
    });

    test('a mapping of another file over code of the stack: a gap', () => {
      const { modules } = dump.modules;
      const { frames } = walkNativeStack(dump.machine.registersOf(dump.core.threads[0]!), dump);
      const other = frames[0]?.location?.module;
      const own = frames.find(({ location }) => location && location.module !== other)?.location?.module;
      assert.ok(own && other);
      const mappings = [...other.mappings, ...own.mappings.map((each) => ({ ...each, fileOffset: 2 ** 40 }))];
      const map = new ModuleMap([
        ...modules.filter((module) => module !== own && module !== other),
        { ...own, mappings: [] },
        { ...other, mappings },
      ]);
      const { gaps } = tell({ ...dump, modules: map });
      assert.match(JSON.stringify(gaps), /in a mapping of a file that does not contain it/);
    });

    test('a frame pointer that C++ saved, with that of another frame: a gap, if the frames differ', () => {
      const truth = tell(dump);
      assert.deepEqual(truth.gaps, []);
      const saved = findSaved(dump);
      assert.ok(saved.length > 5, `${saved.length}`);
      const pointers = [...new Set(saved.map((at) => dump.memory.readWord(at)))];
      let different = 0;
      for (const at of sampleOf(saved, 3))
        for (const pointer of sampleOf(pointers, 3)) {
          const { frames, gaps } = tell({ ...dump, memory: withWord(dump, at, pointer) });
          const differs = JSON.stringify(frames) !== JSON.stringify(truth.frames);
          different += Number(differs);
          assert.ok(!differs || gaps.length > 0, `0x${at.toString(16)}: 0x${pointer.toString(16)}`);
        }
      assert.ok(different > 3, `${different}`);
    });
  });

function tell(dump: CoreDump): { frames: unknown[]; gaps: Gap[] } {
  const gaps: Gap[] = [];
  const v8 = openV8(dump, gaps);
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  const { frames } = describeThread(dump, thread, { v8, crashed: true, values: false, gaps, doubts: [] });
  return { frames: frames.map(({ function: name, file, line, column }) => [name, file, line, column]), gaps };
}

/** Where native functions saved their callers' frame pointers, by the unwinding tables. */
function findSaved({ core, machine, modules, memory }: CoreDump): number[] {
  const thread = core.threads[0] ?? assert.fail('no thread');
  const { frames } = walkNativeStack(machine.registersOf(thread), { core, machine, modules, memory });
  return frames.flatMap(({ location }, i) => {
    const caller = frames[i + 1];
    const description =
      location?.address === undefined ? undefined : location.module.code?.findFrame(location.address);
    if (caller?.trust !== 'cfi' || !description || location?.address === undefined) return [];
    const rule = computeFrameRow(description, location.address).registers.get(machine.framePointer);
    return rule?.kind === 'offset' ? [caller.stackPointer + Number(rule.offset)] : [];
  });
}

function withWord({ memory }: CoreDump, start: number, value: number): ProcessMemory {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return new ProcessMemory([
    { start, end: start + 8, source: bytesSource(bytes), offset: 0 },
    ...memory.extents,
  ]);
}
