/** A dump folder with untrusted durable runs: names with terminal control sequences, torn and random files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { durableAgent as agent } from '../../../src/durable/api.ts';

const evil = 'name\x1b[2J\u202e\n::set-output name=x::y';

/** Returns the dump folder. */
export async function writeHostileRuns(dir: string): Promise<string> {
  const options = { id: 'trip-1', durable: true as const, dir, notify: () => {} };
  await agent.run(evil, options, async () => {
    await agent.step(`step ${evil}`, () => 1);
  });
  const contents: Record<string, Buffer> = {
    'trip-2': Buffer.alloc(4096, 0xff),
    'trip-3': Buffer.from('{"not":"a journal"}\n'.repeat(100)),
    'trip-4': Buffer.alloc(0),
  };
  for (const [name, bytes] of Object.entries(contents)) {
    const folder = join(dir, 'runs', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '000001.journal'), bytes);
    writeFileSync(join(folder, 'lease'), evil);
  }
  return dir;
}
