/** A test run that hung while no test was running: what the tests, or the code around them, left open. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Gap } from '../../../src/model/verdict.ts';
import { commonParts, synthParts, writeBundle } from '../../support/synth/synth-analysis-bundle.ts';

async function tell(context: TestContext, tests: object, handles: object): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-leftovers-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  const common = commonParts();
  const path = writeBundle(
    join(dir, '20261121T030405.678Z-agent-snapshot-00112233.agentdump'),
    synthParts({
      'trigger.json': {
        ...(common['trigger.json'] as object),
        kind: 'snapshot-signal',
        verdictKind: 'snapshot',
        signal: { name: 'SIGUSR2' },
      },
      'error.json': undefined,
      'test.json': {
        runner: 'mocha',
        running: [],
        failed: 0,
        stop: { why: 'hang', afterMs: 8000 },
        ...tests,
      },
      'handles.json': handles,
    }),
  );
  const bundle = openBundle(path);
  context.after(() => bundle.close());
  const { verdict } = await analyzeBundle(bundle);
  return verdict?.summary ?? '';
}

const socket = (state: string, local: string) => ({
  fd: 20,
  protocol: 'tcp',
  local,
  remote: '0.0.0.0:0',
  state,
});

test('a server, by its address', async (context) => {
  const handles = {
    resources: { TCPServerWrap: 1, PipeWrap: 2 },
    sockets: [socket('LISTEN', '127.0.0.1:8080'), socket('ESTABLISHED', '127.0.0.1:5000')],
  };
  assert.match(
    await tell(context, { finished: 2 }, handles),
    /No test was running: those that had begun had ended\. What keeps the process alive: a server that listens on 127\.0\.0\.1:8080\.$/,
  );
});

test('a debugger that listens too is none of the program’s', async (context) => {
  const handles = {
    resources: { TCPServerWrap: 1, Timeout: 2 },
    sockets: [socket('LISTEN', '127.0.0.1:8080'), socket('LISTEN', '127.0.0.1:9229')],
  };
  assert.match(await tell(context, { finished: 2 }, handles), /alive: a listening server, 2 timers\.$/);
});

test('nothing that has a name', async (context) => {
  const summary = await tell(context, { finished: 1 }, { resources: { PipeWrap: 2, Unheard: 1 } });
  assert.match(summary, /had ended\. The event loop was turning, and waited for something\.$/);
});

test('a test that runs, or none that has run: it waits', async (context) => {
  const handles = { resources: { TCPServerWrap: 1 } };
  const running = [{ name: ['lists'], startedAt: '2026-11-21T03:04:00.000Z' }];
  for (const tests of [{ finished: 2, running }, { finished: 0 }])
    assert.match(await tell(context, tests, handles), /the test waits for something that does not come\.$/);
});

test('worker threads that could not be looked at: nothing certain, and no word of what the test waits for', () => {
  const stopped = (gaps: Gap[]) =>
    reachVerdict({
      trigger: {
        kind: 'snapshot-signal',
        isMainThread: true,
        handledByHost: false,
        signal: { name: 'SIGUSR2' },
      },
      account: { process: { test: { stop: { why: 'hang', afterMs: 4000 } } }, gaps } as never,
    });
  const reason = 'the main thread: process 7 did not open its inspector';
  const unseen = stopped([{ part: 'worker-stacks.json', reason }]);
  assert.equal(unseen.kind, 'no-progress');
  assert.equal(unseen.confidence, 'likely');
  assert.match(unseen.summary, /where is not known \(process 7 did not open its inspector\)\.$/);
  assert.equal(stopped([]).confidence, 'certain');
});
