/** The tainted program with a core: reduced cores, and memory that is read while a thread is held. */
import { noCores } from '../support/cores/core-victims.ts';
import { testTainted } from './test-tainted.ts';

const noHold =
  process.platform !== 'linux' || process.arch !== 'x64' ? 'threads are held on Linux x64 only' : false;

testTainted({
  'an exception, read from a core': {
    how: 'throw',
    run: ['--locals', 'core'],
    part: /mini-core/,
    skip: noCores,
  },
  'an abort, with its core': { how: 'abort', run: [], part: /mini-core/, skip: noCores },
  'a fault, with its core': { how: 'fault', run: [], part: /mini-core/, skip: noCores },
  'a fault, held': { how: 'fault', run: ['--hold'], noCore: true, part: /mini-core/, skip: noHold },
});
