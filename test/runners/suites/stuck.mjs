import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

test('asks a tool that never answers', () => {
  execFileSync('sleep', ['1000']);
});
