/** The issues that the store makes of deaths, whose order is unrelated to their faults. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../../../src/model/account.ts';
import { deathOf } from '../../../src/store/grouping/death.ts';
import { addDeath, findDeath } from '../../../src/store/index/add-death.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Labelled } from './score.ts';

/** Sets the `group` of each death. The order, which changes the groups a little, is that of the hashes of keys. */
export async function groupByStore<T extends Labelled & { account: Account }>(
  deaths: readonly T[],
  program: string,
  keyOf: (death: T, at: number) => string,
): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'agentdump-grouping-store-'));
  const { index, close } = await openStore(place);
  const orderOf = deaths.map((death, at) => createHash('sha256').update(keyOf(death, at)).digest('hex'));
  const order = deaths.map((_, at) => at).sort((a, b) => (orderOf[a]! < orderOf[b]! ? -1 : 1));
  const idOf = (at: number) => at.toString(16).padStart(16, '0');
  for (const at of order) {
    const stored = { bundle: idOf(at), digest: '', blob: idOf(at), bytes: 0 };
    await addDeath(index, deathOf(deaths[at]!.account, stored, { program, repeats: 0 }, Date.now()));
  }
  for (const [at, death] of deaths.entries())
    death.group = (await findDeath(index, { bundle: idOf(at) }))?.issue ?? 'none';
  await close();
  rmSync(place, { recursive: true, force: true });
}
