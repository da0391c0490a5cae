/** What a deadline ends leaves nothing behind in a program that lives on. V8 runs no `finally` of what it terminates. */
import assert from 'node:assert/strict';
import inspector from 'node:inspector';
import { test } from 'node:test';
import { GetterReader } from '../../../src/capture/fatal-path/getter-reader.ts';
import { listObjects } from '../../../src/capture/heap/list-objects.ts';
import { askV8 } from '../../../src/capture/host/ask-v8.ts';
import { DeadlineExceeded, runWithDeadline } from '../../../src/capture/host/deadline.ts';
import { openSelfDebugger } from '../../../src/capture/host/inspector-session.ts';
import { toUndo, undoDepth } from '../../../src/capture/host/undo.ts';
import { ClosureScopes } from '../../../src/capture/stacks/closure-scopes.ts';

const spin = (): never => {
  for (;;);
};

function closing(open: () => () => void): () => void {
  return () => {
    const close = open();
    try {
      spin();
    } finally {
      close();
    }
  };
}

const works: Record<string, () => void> = {
  'a list of objects': () => listObjects(spin),
  'a debugger session': closing(() => openSelfDebugger().close),
  'the variables of functions': closing(() => new ClosureScopes().close),
  'a question to V8': () => askV8(spin),
  'a getter': closing(() => {
    const getters = new GetterReader();
    getters.read(
      {
        get one() {
          return 1;
        },
      },
      'one',
    );
    return toUndo(() => getters.close());
  }),
};

const world = (): unknown => ({
  names: Object.getOwnPropertyNames(globalThis),
  symbols: Object.getOwnPropertySymbols(globalThis),
  format: Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace'),
});

for (const [name, work] of Object.entries(works))
  test(`${name}, cut`, (t) => {
    const { prototype } = inspector.Session;
    const { connect, disconnect } = prototype;
    const open = new Set<unknown>();
    t.mock.method(prototype, 'connect', function (this: inspector.Session) {
      open.add(this);
      Reflect.apply(connect, this, []);
    });
    t.mock.method(prototype, 'disconnect', function (this: inspector.Session) {
      open.delete(this);
      Reflect.apply(disconnect, this, []);
    });
    const before = world();
    assert.throws(() => runWithDeadline(300, work), DeadlineExceeded);
    assert.equal(open.size, 0);
    assert.deepEqual(world(), before);
    assert.throws(() => new Function('return %IsInternalizedString("")'), SyntaxError);
    assert.equal(undoDepth(), 0);
  });

test('the newest first, each once, also if one fails; what was due outside stays', () => {
  const done: string[] = [];
  const outer = toUndo(() => done.push('outer'));
  const work = (): void => {
    toUndo(() => done.push('first'));
    toUndo(() => {
      throw new Error('gone');
    });
    toUndo(() => done.push('third'));
    spin();
  };
  assert.throws(() => runWithDeadline(20, work), DeadlineExceeded);
  assert.deepEqual(done, ['third', 'first']);
  outer();
  outer();
  assert.deepEqual(done, ['third', 'first', 'outer']);
});
