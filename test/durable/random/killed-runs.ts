/** Runs that die after one of their records, within this process, and are resumed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { crashingStore, isCrash } from './crashing-store.ts';

type Program = () => Promise<unknown>;

const folder = mkdtempSync(join(tmpdir(), 'agentdump-killed-runs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
export function newRun() {
  const store = new FileStore(join(folder, String(count++)));
  const lines: string[] = [];
  const options = { id: 'r', durable: true, notify: (line: string) => lines.push(line) } as const;
  const live = (program: Program, place: DurableStore = store) =>
    agent.run('program', { ...options, store: place }, program);
  /** Whether it has died, because it had so many records. */
  const dieAt = (at: number, program: Program): Promise<boolean> =>
    live(program, crashingStore(store, at, 'after')).then(() => false, isCrash);
  return { store, lines, live: (program: Program) => live(program), dieAt };
}

/**
 * What the resumes return, or the messages of their errors, if the run is killed after its third record, and after each further one
 * (`every`: after every second one, and so on).
 */
export async function outcomes(program: Program, every = 1): Promise<unknown[]> {
  const got: unknown[] = [];
  for (let at = 3, dies = true; dies; at += every) {
    const { live, dieAt } = newRun();
    dies = await dieAt(at, program);
    got.push(await live(program).catch((error: Error) => error.message));
  }
  return got;
}
