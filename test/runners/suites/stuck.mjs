import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';

test('asks a tool that never answers', () => {
  appendFileSync(process.env.AGENTDUMP_TEST_READY, 'ready\n');
  execFileSync('sleep', ['1000']);
});
