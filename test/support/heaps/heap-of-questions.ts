/** A real heap with known objects: 300 orders of three of four customers (fixtures/programs/heap/heap-of-questions.mjs). */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(
  new URL('../../../fixtures/programs/heap/heap-of-questions.mjs', import.meta.url),
);

/** Uses the running Node. */
export function writeHeapOfQuestions(path: string): void {
  execFileSync(process.execPath, [program, path]);
}
