/** What the host can see of the tap on an emitter, and what the tap sees of the host. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { type EventTap, tapEvents } from '../../../src/capture/triggers/event-tap.ts';

/** Like `process`, which already has Node's own listeners for its housekeeping. */
function makeEmitter(): EventEmitter {
  return new EventEmitter().on('newListener', () => {}).on('removeListener', () => {});
}

function tapEnd(emitter: EventEmitter): { tap: EventTap; seen: unknown[]; changes: boolean[] } {
  const tap = tapEvents(emitter as unknown as NodeJS.EventEmitter);
  const seen: unknown[] = [];
  const changes: boolean[] = [];
  tap.tap('end', { before: (value: unknown) => seen.push(value) });
  tap.whenHostChanges('end', (listens) => changes.push(listens));
  return { tap, seen, changes };
}

/** Whoever captures a stack here looks for a formatter on the present Error first. */
function countStacks(work: () => void): number {
  const before = globalThis.Error;
  let stacks = 0;
  globalThis.Error = new Proxy(before, {
    getOwnPropertyDescriptor(target, name) {
      stacks++;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  try {
    work();
  } finally {
    globalThis.Error = before;
  }
  return stacks;
}

const storeOf = (emitter: EventEmitter): object => (emitter as unknown as { _events: object })._events;

test('what is not watched stays as Node has it: a plain store in a plain property, and plain entries', () => {
  const emitter = makeEmitter();
  const store = storeOf(emitter);
  tapEnd(emitter);
  const listener = (): void => {};
  emitter.on('other', listener);
  assert.equal(Object.getOwnPropertyDescriptor(emitter, '_events')?.value, store);
  assert.equal(Object.getOwnPropertyDescriptor(store, 'other')?.value, listener);
});

test('an event is seen before the host sees it, and the host sees no listener of ours', () => {
  const emitter = makeEmitter();
  const { seen } = tapEnd(emitter);
  assert.equal(emitter.listenerCount('end'), 0);
  emitter.emit('end', 1);
  const heard: unknown[] = [];
  emitter.on('first', () => {});
  emitter.on('end', (value) => heard.push(['host', value, seen.length]));
  assert.deepEqual(emitter.eventNames(), ['newListener', 'removeListener', 'first', 'end']);
  assert.equal(emitter.listeners('end').length, 1);
  emitter.emit('end', 2);
  emitter.once('end', (value) => heard.push(['once', value]));
  assert.equal(emitter.listenerCount('end'), 2);
  emitter.emit('end', 3);
  emitter.emit('end', 4);
  assert.deepEqual(seen, [1, 2, 3, 4]);
  assert.deepEqual(heard, [
    ['host', 2, 2],
    ['host', 3, 3],
    ['once', 3],
    ['host', 4, 4],
  ]);
});

test('the host’s coming and going is told, whichever way it goes', () => {
  const emitter = makeEmitter();
  const { tap, changes } = tapEnd(emitter);
  const listener = (): void => {};
  emitter.on('end', listener).on('end', () => {});
  assert.equal(tap.listenersOfHost('end').length, 2);
  emitter.removeListener('end', listener);
  assert.deepEqual(changes, [true]);
  emitter.removeAllListeners('end');
  assert.deepEqual(changes, [true, false]);
  assert.deepEqual(emitter.eventNames(), ['newListener', 'removeListener']);
  emitter.once('end', listener).emit('end');
  assert.deepEqual(changes, [true, false, true, false]);
});

test('what an emit of the host keeps is not told', () => {
  const emitter = makeEmitter();
  const { changes } = tapEnd(emitter);
  const { emit } = emitter;
  const listener = (): void => {};
  const passOn = (name: string | symbol, ...rest: unknown[]) => Reflect.apply(emit, emitter, [name, ...rest]);
  const kept: unknown[] = [];
  const keep = (...all: unknown[]): boolean => kept.push(all) === 0;
  emitter.emit = keep;
  emitter.on('end', listener);
  emitter.emit = passOn;
  emitter.on('other', listener).removeListener('end', listener);
  assert.deepEqual(changes, [false]);
  emitter.on('end', listener);
  emitter.emit = keep;
  emitter.removeListener('end', listener);
  emitter.emit = passOn;
  emitter.removeListener('other', listener);
  assert.deepEqual(changes, [false, true]);
  assert.equal(kept.length, 2);
});

test('a listener that is added or removed costs no stack', () => {
  const emitter = makeEmitter();
  const { seen, changes } = tapEnd(emitter);
  const listener = (): void => {};
  const change = (name: string): void => {
    emitter.on(name, listener).once(name, listener).emit(name);
    emitter.removeListener(name, listener).removeAllListeners(name);
  };
  assert.equal(
    countStacks(() => change('other')),
    0,
  );
  assert.notEqual(
    countStacks(() => change('end')),
    0,
  );
  assert.deepEqual([seen, changes], [[undefined], [true, false]]);
});

test('a new store is watched too', () => {
  const emitter = makeEmitter();
  const { tap, seen, changes } = tapEnd(emitter);
  emitter.on('end', () => {});
  emitter.removeAllListeners();
  assert.deepEqual(emitter.eventNames(), []);
  emitter.emit('end', 'unheard');
  emitter.on('end', () => {});
  emitter.emit('end', 'heard');
  assert.deepEqual(seen, ['unheard', 'heard']);
  // Nobody listens for `newListener` any more.
  assert.deepEqual(changes, [true, false]);
  assert.equal(tap.listenersOfHost('end').length, 1);
  const lone = new EventEmitter();
  const { seen: ofLone } = tapEnd(lone);
  const listener = (): void => {};
  lone.on('x', listener).removeListener('x', listener);
  lone.emit('end', 'after the last was removed');
  assert.deepEqual(ofLone, ['after the last was removed']);
});

test('a copy of the emitter is not watched, and gone is gone', () => {
  const emitter = makeEmitter();
  const { tap, seen } = tapEnd(emitter);
  emitter.on('end', () => {});
  // Copied as jest copies `process`.
  const copy = Object.create(
    Object.getPrototypeOf(storeOf(emitter)),
    Object.getOwnPropertyDescriptors(storeOf(emitter)),
  );
  const other = Object.assign(makeEmitter(), { _events: copy });
  other.emit('end', 'of the copy');
  assert.deepEqual(seen, []);
  assert.equal(other.listenerCount('end'), 1);
  tap.uninstall();
  emitter.emit('end', 'after');
  assert.deepEqual(seen, []);
  assert.equal(emitter.listenerCount('end'), 1);
  assert.equal(Object.getPrototypeOf(storeOf(emitter)), null);
  const descriptor = Object.getOwnPropertyDescriptor(storeOf(emitter), 'end');
  assert.equal(typeof descriptor?.value, 'function');
});
