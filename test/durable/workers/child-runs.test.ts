/** Runs that other runs start and wait for, on files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { testChildren } from './child-cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-children-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

testChildren({
  name: 'files',
  open: async () => new FileStore(join(folder, `dumps-${count++}`)),
  reopen: async (store) => new FileStore(dirname(store.place)),
});
