/** Known differences, with their reasons. Each is also listed in the README. */
import type { Difference } from './compare.ts';

export interface Exception {
  /** Matches the names of the programs. */
  program: RegExp;
  /** Matches `Difference.what`. */
  what: RegExp;
  why: string;
  /** A fault of ours that is still to be fixed. */
  isOpen?: true;
}

const pause =
  'an error that a test runner hears is recorded at once, for some 0.3 s: who is running then has its timers late';

const exceptions: readonly Exception[] = [
  {
    program:
      /^mocha .*(late|rejects)\.cjs|^vitest run tests\/vitest\/late|^ava( --tap| --worker-threads=false .*)?$/,
    what: /^(exit|stdout|stderr)$/,
    why: pause,
    isOpen: true,
  },
  {
    program: /^atomic-sleep: /,
    what: /^(exit|stdout)$/,
    why: 'a timer of 1,000 ms came 10 ms late, when our watchdog thread starts',
    isOpen: true,
  },
  {
    program: /^fastify: fastify\.mjs$/,
    what: /^stdout$/,
    why: "fastify calls handlers through its diagnostics channel where somebody listens: two of Node's frames more in a stack",
  },
];

export function findException(program: string, { what }: Difference): Exception | undefined {
  return exceptions.find((known) => known.program.test(program) && known.what.test(what));
}
