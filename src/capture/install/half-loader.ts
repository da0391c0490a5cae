/** Compiles the halves that are embedded as text, each on first use. Only types are imported from them. */

import { ownWork } from '../../agent/taps/own-work.ts';
import { mayBeToken } from '../../redaction/names/may-be-token.ts';
import { requireAddressRoom } from '../host/address-room.ts';
import {
  getBuiltinModule,
  indexOf,
  lastIndexOf,
  sliceText,
  sourceOf,
} from '../host/intrinsics/intrinsics.ts';
import { type CodeCache, ownProcess, requireBuiltin, runInOwnRealm } from '../host/intrinsics/own-realm.ts';
import { codeCacheOf } from './code-cache.ts';
import type * as ColdHalf from './cold-half.ts';
import { plainName } from './plain-name.ts';
import type * as RecordingHalf from './recording-half.ts';
import type * as RedactionHalf from './redaction-half.ts';
import type * as TestingHalf from './testing-half.ts';
import type * as WatchdogHalf from './watchdog-half.ts';

/**
 * Each half as one CommonJS text, deflated, in base64, as the comment in a function; test/support/build/build-preload.mjs inserts
 * them. In a test process src/register-tests.ts keeps the text outside of V8's heap and returns it on demand, with the code that an
 * earlier process of the run compiled.
 */
type Carrier = (() => void) | ({ readonly text: string } & CodeCache);
declare const AGENTDUMP_COLD_HALF: Carrier;
declare const AGENTDUMP_RECORDING_HALF: Carrier;
declare const AGENTDUMP_REDACTION_HALF: Carrier;
declare const AGENTDUMP_WATCHDOG_HALF: Carrier;
/** Not deflated, because zlib would cost each test process 2 ms. src/register-tests.ts turns it into code. */
declare function AGENTDUMP_TESTING_HALF(
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
): void;

type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  ...captured: unknown[]
) => void;

const ownRequire = requireBuiltin as unknown as NodeJS.Require;

/** The names that captured-globals.cjs binds, for code that is compiled later. */
const captured = {
  AGENTDUMP_OWN_WORK: ownWork,
  Array,
  ArrayBuffer,
  Atomics,
  Boolean,
  Buffer,
  Date,
  Error,
  Function,
  Int32Array,
  JSON,
  Map,
  Math,
  Number,
  Object,
  Promise,
  Proxy,
  Reflect,
  RegExp,
  Set,
  SharedArrayBuffer,
  String,
  Symbol,
  Uint8Array,
  WeakMap,
  WeakRef,
  WeakSet,
  clearImmediate,
  clearInterval,
  clearTimeout,
  performance,
  process,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
};
const capturedNames = Object.keys(captured);
const capturedValues = Object.values(captured);
/** For a half that only asks `process`, and assigns nothing to it. */
const valuesWithOwnProcess = Object.values({ ...captured, process: ownProcess });

let coldHalf: typeof ColdHalf | undefined;
let recordingHalf: typeof RecordingHalf | undefined;
let redactionHalf: typeof RedactionHalf | undefined;
let testingHalf: typeof TestingHalf | undefined;

export function loadColdHalf(): typeof ColdHalf {
  coldHalf ??= compileInOwnRealm('cold-half', AGENTDUMP_COLD_HALF, loadRedactionHalf()) as typeof ColdHalf;
  return coldHalf;
}

/** Like programName, but compiles the redactor only for a name that may contain a secret. */
export const programNameLate = (): string => publicNameLate(plainName(process.argv, process.env));

export const publicNameLate = (name: string): string =>
  mayBeToken(name) ? loadRedactionHalf().publicName(name) : name;

export function loadRedactionHalf(): typeof RedactionHalf {
  redactionHalf ??= compileInOwnRealm('redaction-half', AGENTDUMP_REDACTION_HALF) as typeof RedactionHalf;
  return redactionHalf;
}

export function loadRecordingHalf(): typeof RecordingHalf {
  recordingHalf ??= compile('recording-half', carriedText(AGENTDUMP_RECORDING_HALF)) as typeof RecordingHalf;
  return recordingHalf;
}

export function loadTestingHalf(): typeof TestingHalf {
  testingHalf ??= startTestingHalf() as typeof TestingHalf;
  return testingHalf;
}

/** Includes its text, which is also the source of its thread. */
export function loadWatchdogHalf(): typeof WatchdogHalf & { source: string } {
  const source = carriedText(AGENTDUMP_WATCHDOG_HALF);
  return { ...(compile('watchdog-half', source, valuesWithOwnProcess) as typeof WatchdogHalf), source };
}

/**
 * A bundler that drops comments produces a preload that can't write anything: reported at the start rather than at the death.
 */
export function requireHalves(): void {
  if (typeof AGENTDUMP_COLD_HALF === 'function') commentOf(AGENTDUMP_COLD_HALF);
}

function startTestingHalf(): object {
  const source = sourceOf(AGENTDUMP_TESTING_HALF);
  const start = indexOf(source, '/*TESTING');
  if (start >= 0)
    return compile('testing-half', sliceText(source, start + 9, lastIndexOf(source, 'TESTING*/')));
  const module = { exports: {} };
  AGENTDUMP_TESTING_HALF(module.exports, require, module);
  return module.exports;
}

/** ASCII: the build escapes everything else. Throws if a limit leaves no room to compile it. */
function carriedText(carrier: Carrier): string {
  requireAddressRoom();
  const text = typeof carrier === 'function' ? commentOf(carrier) : carrier.text;
  return inflateUnlisted(Buffer.from(text, 'base64')).toString('latin1');
}

interface Engine {
  _handle?: { hasRef?(): boolean };
  _processChunk?(bytes: Uint8Array, flush: number): Buffer;
}

/**
 * What inflateRawSync does. A tool that lists by async hooks what keeps a program running (why-is-node-running) lists the handle
 * until it is collected, unless the handle says itself that it keeps nothing running.
 */
function inflateUnlisted(bytes: Buffer): Buffer {
  const { constants, createInflateRaw, inflateRawSync } = getBuiltinModule('node:zlib');
  try {
    const engine = createInflateRaw() as Engine;
    const { _handle: handle } = engine;
    if (handle && !handle.hasRef && engine._processChunk) {
      handle.hasRef = () => false;
      return engine._processChunk(bytes, constants.Z_FINISH);
    }
  } catch {
    // The program has replaced one of them.
  }
  return inflateRawSync(bytes);
}

function commentOf(carrier: () => void): string {
  const source = sourceOf(carrier);
  const start = indexOf(source, '/*');
  if (start < 0)
    throw new Error('agentdump/register was rewritten without its comments; load it from its own file');
  return sliceText(source, start + 2, lastIndexOf(source, '*/'));
}

/** Begins with our own file's name, by which our frames are recognized and left out of the stacks that we keep. */
const fileOf = (name: string): string => `${__filename}:${name}`;

/** In the main realm, where it can assign functions to the program's own objects. */
function compile(name: string, text: string, values = capturedValues): object {
  const { Script } = getBuiltinModule('node:vm');
  const names = capturedNames.join(',');
  const script = new Script(`(function(exports,require,module,${names}){${text}\n})`, {
    filename: fileOf(name),
  });
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, ownRequire, module, ...values);
  return module.exports;
}

/**
 * Compiles in the own realm, with the globals of the main realm that are passed in; the language's own are there.
 * @param redactor for a half that is built without it.
 */
function compileInOwnRealm(name: string, carrier: Carrier, redactor?: typeof RedactionHalf): object {
  const text = carriedText(carrier);
  const cache = typeof carrier === 'object' ? carrier : codeCacheOf(name, commentOf(carrier));
  const wrapper = runInOwnRealm(
    `(function(exports,require,module,globalThis,process,Buffer,performance,URL,AGENTDUMP_OWN_WORK,AGENTDUMP_REDACTOR){${text}\n})`,
    fileOf(name),
    cache,
  ) as Wrapper;
  const { URL } = requireBuiltin('node:url') as typeof import('node:url');
  const module = { exports: {} };
  const given = [globalThis, ownProcess, Buffer, performance, URL, ownWork, redactor];
  wrapper(module.exports, ownRequire, module, ...given);
  return module.exports;
}
