/**
 * Two snapshots of one real process, between which 400 sessions were added to a Map. They contain untrusted texts and an
 * untrusted key.
 */
import { execFileSync } from 'node:child_process';

const program = `
  class Session { constructor(n) { this.id = 'session-' + n; this.messages = Array(20).fill().map((_, m) => 'message ' + m + ' of ' + n + '<img src=x onerror=alert(1)>'); } }
  globalThis.registry = { sessions: new Map() };
  const grow = (count) => {
    for (let n = 0; n < count; n++) registry.sessions.set(Symbol('<b>' + n), new Session(registry.sessions.size));
  };
  const { writeHeapSnapshot } = require('v8');
  grow(100);
  writeHeapSnapshot(process.argv[1]);
  grow(400);
  writeHeapSnapshot(process.argv[2]);
`;

/** Uses the running Node. */
export function writeGrowingHeaps(before: string, after: string): void {
  execFileSync(process.execPath, ['-e', program, before, after]);
}
