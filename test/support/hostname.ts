/** A machine's name, for what asks the system for it. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { TestContext } from 'node:test';

export function beOn(t: TestContext, host: string): void {
  t.mock.method(os, 'hostname', () => host);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}
