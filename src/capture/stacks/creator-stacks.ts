/**
 * Where open handles and file descriptors were created: the place in the program for each of them. On request only, since
 * every handle costs a stack: handles by an async hook, descriptors by wrappers of the functions of node:fs, which keep name
 * and length. What native code opens is not seen. One effect is visible: Node prints an uncaught error of such a call under
 * another source line.
 */
import type Fs from 'node:fs';
import type { HandlesPart } from '../../bundle/layout/bundle.ts';
import { nearestFrames } from '../host/intrinsics/own-stack.ts';

type Creator = NonNullable<HandlesPart['creators']>[number];
interface Place {
  kind: string;
  stack: string;
}

const followed =
  /^(?:TCP|TCPSERVER|PIPE|PIPESERVER|TLS|UDP|PROCESS|FSEVENT|STATWATCHER|SIGNAL)WRAP$|^(?:FSEVENTWRAP|STATWATCHER|FILEHANDLE|WORKER|Timeout)$/;
const mostFollowed = 20_000;
const mostNamed = 20;
const framesKept = 4;

const handles = new Map<number, Place>();
const descriptors = new Map<number, Place>();
let armedFor: string | undefined;

/**
 * `ownFile`: the preload's, whose frames are left out; `fs`: the program's, not our own copy. Returns a function that undoes
 * it.
 */
export function armCreators(ownFile: string, fs: typeof Fs): () => void {
  armedFor = ownFile;
  const { createHook } = process.getBuiltinModule('node:async_hooks');
  const hook = createHook({
    init(id, kind) {
      if (followed.test(kind) && handles.size < mostFollowed)
        handles.set(id, { kind, stack: creatorStack() });
    },
    destroy(id) {
      handles.delete(id);
    },
  }).enable();
  const unwrap = wrapFiles(fs);
  return () => {
    hook.disable();
    unwrap();
  };
}

/** Places by the number of their open handles, most first; undefined if it is not enabled. */
export function countCreators(): Creator[] | undefined {
  if (armedFor === undefined) return undefined;
  const counts = new Map<string, Creator>();
  for (const { kind, stack } of [...descriptors.values(), ...handles.values()]) {
    const key = `${kind}\n${stack}`;
    const creator = counts.get(key) ?? { kind, stack, count: 0 };
    creator.count++;
    counts.set(key, creator);
  }
  return [...counts.values()].sort((a, b) => b.count - a.count).slice(0, mostNamed);
}

/** The program's own frames, or Node's if there are none. */
function creatorStack(): string {
  const frames = nearestFrames(armedFor).split('\n');
  const own = frames.filter((frame) => !/\(?node:/.test(frame));
  return (own.length ? own : frames).slice(0, framesKept).join('\n');
}

function opened(fd: unknown, stack: string): void {
  if (typeof fd === 'number' && descriptors.size < mostFollowed)
    descriptors.set(fd, { kind: 'file descriptor', stack });
}

type AnyFunction = (...args: never[]) => unknown;

function wrapFiles(fs: typeof Fs): () => void {
  const undoings = [
    wrap(fs, 'openSync', (call) => {
      const fd = call();
      opened(fd, creatorStack());
      return fd;
    }),
    wrap(fs, 'open', (call, args) => {
      const callback = args.at(-1);
      if (typeof callback !== 'function') return call();
      const stack = creatorStack();
      args[args.length - 1] = function (this: unknown, ...results: unknown[]) {
        opened(results[1], stack);
        return Reflect.apply(callback, this, results);
      };
      return call();
    }),
    ...(['closeSync', 'close'] as const).map((name) =>
      wrap(fs, name, (call, args) => {
        descriptors.delete(Number(args[0]));
        return call();
      }),
    ),
  ];
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module');
  syncBuiltinESMExports();
  return () => {
    for (const undo of undoings) undo();
    syncBuiltinESMExports();
  };
}

/** Restores the stack that the error would have without us. */
function withoutOurFrames(error: unknown): void {
  const { stack } = (error ?? {}) as { stack?: unknown };
  if (typeof stack !== 'string' || armedFor === undefined) return;
  const own = armedFor;
  const frames = stack.split('\n').filter((line) => !line.includes(own));
  Object.defineProperty(error, 'stack', { value: frames.join('\n') });
}

/** `around` receives the original call and its arguments, which it may change. */
function wrap(
  holder: object,
  name: string,
  around: (call: () => unknown, args: unknown[]) => unknown,
): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(holder, name);
  const original = descriptor?.value as AnyFunction | undefined;
  if (!descriptor || typeof original !== 'function') return () => {};
  const value = function (this: unknown, ...args: unknown[]): unknown {
    try {
      return around(() => Reflect.apply(original, this, args), args);
    } catch (error) {
      withoutOurFrames(error);
      throw error;
    }
  };
  // `open` has its promisified form as an own property.
  Object.defineProperties(value, Object.getOwnPropertyDescriptors(original));
  Object.defineProperty(holder, name, { ...descriptor, value });
  return () => {
    if ((holder as Record<string, unknown>)[name] === value) Object.defineProperty(holder, name, descriptor);
  };
}
