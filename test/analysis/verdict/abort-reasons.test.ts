/** Where an abort's reason comes from is only said if no other abort had one of the same words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootSentence } from '../../../src/analysis/verdict/errors/thrown.ts';
import type { AgentAbort } from '../../../src/model/agent-state.ts';

const abortAt = (line: number, error: { type: string; message: string }): AgentAbort => ({
  beforeEndMs: 1,
  error,
  stackText: '',
  frames: [{ function: 'stop', file: '/srv/app/stop.js', line, column: 3, inApp: true, trust: 'stack-text' }],
});

function said(name: string, message: string, aborts: AgentAbort[]): string {
  const error = { name: 'TypeError', message: 'fetch failed', cause: { name, message } };
  const agent = { runs: [], aborts };
  return rootSentence({
    account: { schema: 'agentdump.analysis/1', process: { cwd: '/srv/app' }, gaps: [], error, agent },
  });
}

const pressed = { type: 'Error', message: 'user pressed stop' };

test('the reason of one abort, and of several at one place', () => {
  const sentence = ' Root cause: Error: user pressed stop, the reason that abort() was given at stop.js:7:3.';
  assert.equal(said('Error', pressed.message, [abortAt(7, pressed)]), sentence);
  assert.equal(said('Error', pressed.message, [abortAt(7, pressed), abortAt(7, pressed)]), sentence);
});

test('no place if two aborts had the same reason at different places, or another error has its words', () => {
  const sentence = ' Root cause: Error: user pressed stop.';
  assert.equal(said('Error', pressed.message, [abortAt(7, pressed), abortAt(9, pressed)]), sentence);
  assert.equal(said('Error', pressed.message, [abortAt(7, { ...pressed, type: 'StopError' })]), sentence);
});

test('an abort without a reason was given none', () => {
  const error = { type: 'AbortError', message: 'This operation was aborted' };
  assert.match(
    said('AbortError', error.message, [abortAt(7, error)]),
    /aborted, of the abort\(\) at stop\.js:7:3\.$/,
  );
});
