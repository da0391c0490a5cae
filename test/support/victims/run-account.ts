/** The accounts of bundles that deaths have left. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import type { MatrixRun } from '../runners/runner-matrix.ts';

export async function accountOf(path: string): Promise<Account> {
  const bundle = openBundle(path);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

/** Of the only bundle that a run under `agentdump ci` has left. */
export async function onlyAccountOf({ report, output }: MatrixRun): Promise<Account> {
  const folder = join(report, 'bundles');
  const [name, ...others] = readdirSync(folder).filter((entry) => entry.endsWith('.zip'));
  assert.ok(name && others.length === 0, output);
  return await accountOf(join(folder, name));
}
