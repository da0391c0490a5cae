/** Appends records to one ledger as fast as it can: the child processes of ledger.test.ts. */
import { appendBundle } from '../../../src/bundle/write/ledger.ts';

const [, , dir = '', count = '0'] = process.argv;
for (let i = 0; i < Number(count); i++)
  appendBundle(dir, { bundle: i.toString(16).padStart(16, '0'), manifest: 'f'.repeat(64) });
