/** Heap snapshots written by each Node of this run, created once and kept in the temporary folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeOf, testMajors } from '../run/test-nodes.ts';

const here = dirname(fileURLToPath(import.meta.url));
const victim = join(here, '..', '..', '..', 'fixtures', 'programs', 'heap/heap-of-everything.mjs');
export const nodeMajors = testMajors;
export const nodeBinary = nodeOf;

/** Path of a snapshot of fixtures/programs/heap/heap-of-everything.mjs, written by this major of Node. */
export function realHeapSnapshot(major: number): string {
  const folder = join(tmpdir(), `agentdump-heaps-${statSync(victim).mtimeMs}`);
  const path = join(folder, `node-${major}.heapsnapshot`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  execFileSync(nodeBinary(major), [victim, unfinished], { stdio: 'inherit' });
  publish(unfinished, path);
  return path;
}

/** The first process to finish wins: the file must not be replaced while another test reads it. */
function publish(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(unfinished);
  }
}
