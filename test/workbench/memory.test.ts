/** The memory and the heap of a core as the workbench shows them: of a real process that died, with a secret in it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openSession } from '../../src/workbench/heap/open-session.ts';
import type { HeapSession } from '../../src/workbench/heap/session.ts';
import { type MemorySession, openMemory } from '../../src/workbench/memory/memory-session.ts';
import type { WordRow } from '../../src/workbench/memory/questions.ts';
import { readMemoryQuestion } from '../../src/workbench/memory/read-question.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../support/cores/core-victims.ts';

const secret = ['sk', 'live', '9fK2mQ7xTt0RbW4zLp8v'].join('_');
const quiet = (): void => {};

suite('a core in the workbench', { skip: noCores }, () => {
  let death: Death;
  let memory: MemorySession;
  let heap: HeapSession;

  before(async () => {
    death = makeCore(nodes.at(-1)!.path, [join(victims, 'dead-heap.cjs')], { env: { PAYMENT_KEY: secret } });
    memory = await openMemory({ path: death.core, isBundle: false }, quiet);
    heap = await openSession({ path: death.core, name: 'core', kind: 'core' }, quiet);
  });
  after(() => death.remove());

  const stackPointer = (): string =>
    memory.summary.threads[0]!.registers.find(({ name }) => name === 'rsp')!.value;
  const words = (at: string, count = 512): WordRow[] => memory.answer({ ask: 'words', at, count }).words;

  test('threads, frames and regions', () => {
    const { threads, regions, presentBytes } = memory.summary;
    assert.equal(threads[0]?.crashed, true);
    assert.ok(threads[0]?.frames.some(({ function: name }) => name === 'stop'));
    assert.ok(regions.some(({ name, access }) => name.endsWith('/node') && access === 'r-x'));
    assert.ok(regions.some(({ name }) => name === `stack of thread ${threads[0]?.id}`));
    assert.ok(presentBytes > 1 << 20);
  });

  test('words of the stack: what each refers to', () => {
    const found = words(stackPointer());
    assert.equal(found[0]?.address, stackPointer());
    assert.match(found[0]?.bytes ?? '', /^[0-9a-f]{16}$/);
    assert.ok(
      found.some(({ refersTo }) => refersTo?.kind === 'code' && refersTo.text.startsWith('node::Abort')),
    );
    const stop = found.find(({ refersTo }) => refersTo?.text === '[Function: stop]');
    assert.equal(stop?.refersTo?.kind, 'object');
    // The address of the object, without V8's tag.
    assert.equal(Number(stop?.refersTo?.at), Number(stop?.value) - 1);
  });

  test('what is not in the core has no bytes', () => {
    const { words: found, region } = memory.answer({ ask: 'words', at: '0x10003', count: 2 });
    assert.equal(region, undefined);
    assert.deepEqual(found, [{ address: '0x10000' }, { address: '0x10008' }]);
  });

  test('a secret of the process is in its memory, and is not shown', () => {
    const { regions, threads } = memory.summary;
    // The kernel puts the environment at the end of the main thread's stack.
    const end = Number(regions.find(({ name }) => name === `stack of thread ${threads[0]?.id}`)!.end);
    let text = '';
    for (let at = end - 64 * 1024; at < end; at += 4096)
      text += words(`0x${at.toString(16)}`)
        .map(({ bytes = '' }) => Buffer.from(bytes, 'hex').toString('latin1'))
        .join('');
    assert.match(text, /PAYMENT_KEY=/);
    assert.ok(!text.includes(secret.slice(8)));
  });

  test('an object of the stack is found in the heap, with its address', () => {
    const stop = words(stackPointer()).find(({ refersTo }) => refersTo?.text === '[Function: stop]')!;
    const { id } = heap.answer({ ask: 'at', address: stop.value! });
    const view = heap.answer({ ask: 'object', id });
    assert.equal(view.address, stop.refersTo?.at);
    assert.match(view.value.source?.file ?? '', /dead-heap\.cjs$/);
    assert.throws(() => heap.answer({ ask: 'at', address: '0x1000' }), { code: 'not-found' });
  });

  test('values that no heap snapshot has: numbers and bytes', () => {
    const textsOf = (name: string) => {
      const { rows } = heap.answer({ ask: 'classes', sort: 'count', filter: name, from: 0, count: 10 });
      const kind = rows.find((row) => row.name === name)!.class;
      const { rows: objects } = heap.answer({ ask: 'objects', class: kind, sort: 'id', from: 0, count: 500 });
      return objects.map(({ id }) => ({ id, text: heap.answer({ ask: 'object', id }).value.text }));
    };
    assert.ok(textsOf('Float64Array').some(({ text }) => text === 'Float64Array(3) [ 0.5, -2.25, NaN ]'));
    const counts = textsOf('Array').find(({ text }) => text === '[ 1, 2, 3 ]');
    const fields = heap.answer({ ask: 'fields', id: counts!.id, isRaw: false, from: 0, count: 9 });
    assert.deepEqual(
      fields.rows.filter(({ name }) => name.startsWith('[')).map(({ name, text }) => [name, text]),
      [
        ['[0]', '1'],
        ['[1]', '2'],
        ['[2]', '3'],
      ],
    );
  });
});

test('a question about memory that no page asks is refused', () => {
  for (const asked of [
    null,
    '{}',
    '{"ask":"words","at":4096,"count":1}',
    '{"ask":"words","at":"0x1000000000000","count":1}',
    '{"ask":"words","at":"0x10","count":1e9}',
    '{"ask":"words","at":"0x10","count":-1}',
    '{"ask":"toString","at":"0x10","count":1}',
  ])
    assert.throws(() => readMemoryQuestion(asked), { code: 'usage' }, String(asked));
  assert.deepEqual(readMemoryQuestion('{"ask":"words","at":"0x10","count":4}'), {
    ask: 'words',
    at: '0x10',
    count: 4,
  });
});
