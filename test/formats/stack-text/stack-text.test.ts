/** Whole stack texts: as Error.stack contains them, as Node prints them to stderr, and as libraries extend them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { readStackText, type StackText } from '../../../src/formats/stack-text/stack-text.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

const names = (stack: StackText) => stack.frames.map((frame) => frame.functionName ?? '-');
/** What a real process prints when it dies running `code`. */
const stderrOf = (code: string, ...flags: string[]) =>
  spawnSync(process.execPath, [...flags, '-e', code], { encoding: 'utf8', env: { NO_COLOR: '1' } }).stderr;

test('smallest: empty, a name, a name and one frame', () => {
  assert.deepEqual(readStackText(''), {
    header: '',
    frames: [],
    elided: [],
    related: [],
    rest: '',
    cut: false,
  });
  assert.deepEqual([readStackText('Error').name, readStackText('Error').message], ['Error', undefined]);
  const one = readStackText('TypeError: no\n    at f (/a.js:1:2)');
  assert.deepEqual([one.name, one.message, names(one)], ['TypeError', 'no', ['f']]);
});

test('a header has name, code and message, or only a message', () => {
  const coded = readStackText('TypeError [ERR_X]: bad\nsecond line\n    at f (/a.js:1:2)');
  assert.deepEqual([coded.name, coded.code, coded.message], ['TypeError', 'ERR_X', 'bad\nsecond line']);
  assert.deepEqual(readStackText('just some words').message, 'just some words');
  assert.equal(readStackText('just some words').name, undefined);
  assert.equal(readStackText('Uncaught Error: x\n    at f (/a.js:1:2)').name, 'Error');
  assert.equal(readStackText('(node:12) FooWarning: x\n    at f (/a.js:1:2)').name, 'FooWarning');
  assert.equal(readStackText('my.lib.Fehler: x').name, 'my.lib.Fehler');
});

const forged =
  'Error: it said\n    at fake (/evil.js:1:1)\nand more\n    at real (/a.js:1:2)\n    at main (/a.js:9:9)';

test('lines of the message that look like frames are the message', () => {
  const stack = readStackText(forged);
  assert.deepEqual(names(stack), ['real', 'main']);
  assert.equal(stack.message, 'it said\n    at fake (/evil.js:1:1)\nand more');
});

test('a message that ends in a forged frame deceives nobody who knows the message', () => {
  const text = 'Error: it said\n    at fake (/evil.js:1:1)\n    at real (/a.js:1:2)';
  const stack = readStackText(text, { message: 'it said\n    at fake (/evil.js:1:1)' });
  assert.deepEqual(names(stack), ['real']);
});

test('a message that is not in the text is ignored', () => {
  const stack = readStackText(forged, { message: 'changed\nlater' });
  assert.deepEqual(names(stack), ['real', 'main']);
});

test('what a library appends is a continuation', () => {
  const text = 'Error: x\n    at real (/a.js:1:2)\nfor call at\n    at caller (/b.js:1:2)';
  for (const hints of [{}, { message: 'x' }]) {
    const stack = readStackText(text, hints);
    assert.deepEqual(names(stack), ['real']);
    assert.deepEqual(
      stack.related.map((r) => [r.relation, r.label, names(r.stack)]),
      [['continuation', 'for call at', ['caller']]],
    );
  }
});

test('the arrow of an older --enable-source-maps is the mapped position of the frame above', () => {
  const stack = readStackText(
    'Error: x\n    at f (/dist/a.js:1:2)\n        -> /src/a.ts:30:4\n    at g (/b.js:1:2)',
  );
  assert.deepEqual(stack.frames[0]?.mapped, { file: '/src/a.ts', line: 30, column: 4 });
  assert.deepEqual([stack.frames[0]?.location.kind, names(stack)], ['source', ['f', 'g']]);
});

test('causes of the form "Caused by:" nest', () => {
  const stack = readStackText(
    'Error: a\n    at f (/a.js:1:2)\nCaused by: Error: b\n    at g (/a.js:3:4)\ncaused by: Error: c\n    at h (/a.js:5:6)',
  );
  const b = stack.related[0]?.stack;
  assert.deepEqual([b?.message, names(b as StackText)], ['b', ['g']]);
  assert.equal(b?.related[0]?.stack.message, 'c');
});

test('real: an error event without listener says where it was emitted', () => {
  const text = stderrOf(
    `const e = new (require('events'))(); const error = new Error('x'); (function emitter() { e.emit('error', error) })()`,
  );
  const stack = readStackText(text);
  assert.deepEqual([stack.name, stack.message, stack.frames[0]?.functionName], ['Error', 'x', undefined]);
  const [where] = stack.related;
  assert.equal(where?.relation, 'continuation');
  assert.ok(where?.stack.frames.some((frame) => frame.functionName === 'emitter'));
});

test('real: a fatal error with cause and properties', () => {
  const text = stderrOf(
    `function inner() { throw Object.assign(new RangeError('deep'), { code: 'E_DEEP', list: [1] }) }
     function outer() { try { inner() } catch (cause) { throw new Error('top', { cause }) } }
     outer()`,
  );
  const stack = readStackText(text);
  assert.equal(stack.thrownAt?.file, '[eval]');
  assert.equal(stack.thrownAt?.line, 2);
  assert.equal(
    stack.thrownAt?.code.slice(stack.thrownAt.caretColumn - 1).startsWith('throw new Error'),
    true,
  );
  assert.deepEqual([stack.name, stack.message, stack.frames[0]?.functionName], ['Error', 'top', 'outer']);
  assert.ok((stack.elided[0]?.count ?? 0) > 0);
  const cause = stack.related[0];
  assert.deepEqual(
    [cause?.relation, cause?.stack.name, cause?.stack.message],
    ['cause', 'RangeError', 'deep'],
  );
  assert.equal(cause?.stack.frames[0]?.functionName, 'inner');
  assert.match(cause?.stack.rest ?? '', /code: 'E_DEEP'/);
});

test('real: an AggregateError and its elements', () => {
  const text = stderrOf(
    `const a = new Error('first'); const b = Object.assign(new TypeError('second'), { code: 'E2' });
     throw new AggregateError([a, b, new Error('third')], 'many')`,
  );
  const stack = readStackText(text);
  assert.deepEqual([stack.name, stack.message], ['AggregateError', 'many']);
  const elements = stack.related.filter((r) => r.relation === 'errors').map((r) => r.stack);
  assert.deepEqual(
    elements.map((e) => [e.name, e.message]),
    [
      ['Error', 'first'],
      ['TypeError', 'second'],
      ['Error', 'third'],
    ],
  );
  assert.ok(elements.every((e) => e.frames.length > 0));
  assert.match(elements[1]?.rest ?? '', /code: 'E2'/);
});

test('real: async frames, eval, new, aliases', () => {
  const text = stderrOf(
    `class Agent { constructor() { eval('this.go()') } go() { throw new Error('in eval') } }
     Agent.prototype.start = function () { new Agent() };
     async function step() { await null; new Agent().start() }
     (async function main() { await Promise.all([step()]) })()`,
  );
  const stack = readStackText(text);
  const kinds = stack.frames.map((frame) => frame.location.kind);
  assert.ok(kinds.includes('eval') && kinds.includes('promise'), kinds.join());
  assert.ok(stack.frames.some((frame) => frame.construct && frame.functionName === 'Agent'));
  assert.ok(stack.frames.some((frame) => frame.async && frame.functionName === 'main'));
});

test('real: a thrown string has no frames, and --trace-uncaught adds where it was thrown', () => {
  const plain = readStackText(stderrOf(`throw 'only words'`));
  assert.equal(plain.frames.length, 0);
  assert.equal(plain.thrownAt?.code, "throw 'only words'");
  const traced = readStackText(stderrOf(`(function f() { throw 'only words' })()`, '--trace-uncaught'));
  const all = [...traced.frames, ...traced.related.flatMap((r) => r.stack.frames)];
  assert.ok(all.some((frame) => frame.functionName === 'f'));
});

test('real: a syntax error', () => {
  const stack = readStackText(stderrOf('require("vm").runInThisContext("let a = ;", "broken.js")'));
  assert.deepEqual([stack.name, stack.thrownAt?.file, stack.thrownAt?.line], ['SyntaxError', 'broken.js', 1]);
  assert.ok(stack.frames.length > 0);
});

/** Each about a megabyte long; a quadratic reader would not finish in time. */
const hostile: Record<string, string> = {
  spaces: ' '.repeat(1 << 20),
  'an at and spaces': `at ${' '.repeat(1 << 20)}`,
  parentheses: `    at ${' ('.repeat(1 << 19)}`,
  'parentheses that close': `    at ${' ('.repeat(1 << 18)}${')'.repeat(1 << 18)}`,
  'nested eval': `    at f (${'eval at a ('.repeat(1 << 17)}/a.js:1:1${'), <anonymous>:1:1'.repeat(1 << 17)})`,
  colons: `    at f (/a${':1'.repeat(1 << 19)})`,
  digits: `    at f (/a:${'1'.repeat(1 << 20)})`,
  'empty lines': '\n'.repeat(1 << 20),
  frames: '    at f (/a.js:1:1)\n'.repeat(1 << 16),
  causes: `    at f (/a.js:1:1)\n${'[cause]: x {\n'.repeat(1 << 17)}`,
  lists: `    at f (/a.js:1:1) {\n${'  [errors]: [\nE {\n'.repeat(1 << 16)}`,
  closers: `    at f (/a.js:1:1) {\n${'}\n]\n'.repeat(1 << 18)}`,
  runs: 'Error: x\n    at f (/a.js:1:1)\nwords\n'.repeat(1 << 15),
  carets: `a.js:1\n${'^ '.repeat(1 << 19)}x\n`.repeat(2),
  brackets: `[${' [as '.repeat(1 << 18)}]`,
  aliases: `    at f${' [as a]'.repeat(1 << 18)} (/a.js:1:1)`,
  'percent signs': `    at f (file:///${'%'.repeat(1 << 20)}:1:1)`,
  'braces after a frame': `    at f (/a.js:1:1)${' {'.repeat(1 << 19)}`,
  wasm: `    at f (${':wasm-function['.repeat(1 << 16)})`,
};
for (const [name, text] of Object.entries(hostile))
  test(`hostile: ${name}`, () => {
    const stack = readStackText(text);
    assert.ok(stack.frames.length <= 20_000);
  });

test('hostile: a text over the limit is cut and says so', () => {
  const stack = readStackText('Error: x\n    at f (/a.js:1:1)\n'.repeat(10), { limitChars: 100 });
  assert.equal(stack.cut, true);
});

test('fuzz: no text throws, and each frame is a piece of the text', () => {
  const piece = fc.constantFrom(
    ...[
      '    at ',
      'async ',
      'new ',
      'f',
      ' (',
      '/a.js',
      ':1',
      ':22',
      ')',
      '\n',
      ' {',
      '}',
      ',',
      '[cause]: ',
      '[errors]: [',
    ],
    ...[
      'Error: x',
      '<anonymous>',
      'eval at ',
      'native',
      'index 1',
      '    -> ',
      'file:///',
      '%',
      '   ^',
      '...',
      ']',
      ' ',
    ],
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')),
    fc.string(),
  );
  fc.assert(
    fc.property(text, fc.option(fc.string(), { nil: undefined }), (input, message) => {
      const queue = [readStackText(input, message === undefined ? {} : { message })];
      for (const stack of queue) {
        for (const frame of stack.frames) assert.ok(input.includes(frame.raw));
        queue.push(...stack.related.map((r) => r.stack));
      }
    }),
    { numRuns: fuzzRuns(3000) },
  );
});
