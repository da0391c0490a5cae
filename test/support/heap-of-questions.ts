/** A real heap whose objects are known: 300 orders of three of four customers (fixtures/programs/heap-of-questions.mjs). */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../fixtures/programs/heap-of-questions.mjs', import.meta.url));

/** On the Node that is there. */
export function writeHeapOfQuestions(path: string): void {
  execFileSync(process.execPath, [program, path]);
}
