/** Compiles the halves that are carried as text, each at its first use. Types only are imported from them. */
import type * as ColdHalf from './cold-half.ts';
import type * as RecordingHalf from './recording-half.ts';
import type * as TestingHalf from './testing-half.ts';
import type * as WatchdogHalf from './watchdog-half.ts';

/** Each half as one CommonJS text; test/support/build.mjs puts them here. */
declare const AGENTDUMP_COLD_HALF: string;
declare const AGENTDUMP_RECORDING_HALF: string;
declare const AGENTDUMP_TESTING_HALF: string;
declare const AGENTDUMP_WATCHDOG_HALF: string;

/** Named once: the build puts the text wherever the name stands. */
const watchdogText = AGENTDUMP_WATCHDOG_HALF;

type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }) => void;

let coldHalf: typeof ColdHalf | undefined;
let recordingHalf: typeof RecordingHalf | undefined;
let testingHalf: typeof TestingHalf | undefined;

export function loadColdHalf(): typeof ColdHalf {
  coldHalf ??= compile('cold-half', AGENTDUMP_COLD_HALF) as typeof ColdHalf;
  return coldHalf;
}

export function loadRecordingHalf(): typeof RecordingHalf {
  recordingHalf ??= compile('recording-half', AGENTDUMP_RECORDING_HALF) as typeof RecordingHalf;
  return recordingHalf;
}

export function loadTestingHalf(): typeof TestingHalf {
  testingHalf ??= compile('testing-half', AGENTDUMP_TESTING_HALF) as typeof TestingHalf;
  return testingHalf;
}

/** With its text, which is also the source of its thread. */
export function loadWatchdogHalf(): typeof WatchdogHalf & { source: string } {
  return { ...(compile('watchdog-half', watchdogText) as typeof WatchdogHalf), source: watchdogText };
}

function compile(name: string, text: string): object {
  const { Script } = process.getBuiltinModule('node:vm');
  const script = new Script(`(function(exports,require,module){${text}\n})`, {
    // Begins with our own file's name: by that our frames are left out of the stacks that we keep.
    filename: `${__filename}:${name}`,
  });
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, require, module);
  return module.exports;
}
