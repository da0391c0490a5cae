/** The taps on every Node of the matrix: what the model received is recorded, and the host does not notice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertSameAsOracle, stateOf } from '../../support/agents/agent-oracle.ts';
import {
  buildPreload,
  findNode,
  nodeMajors,
  type ProgramRun,
  runProgram,
} from '../../support/agents/agent-preload.ts';
import {
  type MockModelServer,
  type ScriptedReply,
  type SeenCall,
  startMockModelServer,
} from '../../support/agents/mock-model-server.ts';
import { majorsInTurn, onlyWide, sampleOf } from '../../support/run/test-nodes.ts';
import { untilSettled } from '../../support/victims/main-thread-rest.ts';

const good: ScriptedReply = {
  text: 'Hello there — how are you 😀 today?',
  toolCalls: [{ name: 'look_up', arguments: { query: 'ü', limit: 3 } }],
  frames: 9,
};

let preload: string;
before(async () => {
  preload = await buildPreload();
});

/** Runs one program against its own server, which answers as `script` specifies. */
async function run(
  program: string,
  major: (typeof nodeMajors)[number],
  args: string[],
  script: ScriptedReply,
  onServer?: (server: MockModelServer, kill: (signal: NodeJS.Signals) => void, pid: number) => void,
): Promise<{ ran: ProgramRun; calls: SeenCall[] } | undefined> {
  const node = findNode(major);
  if (!node) return undefined;
  const server = await startMockModelServer(() => script);
  try {
    const ran = await runProgram(program, {
      node,
      preload,
      args,
      env: { MODEL_URL: server.url },
      onStart: (kill, pid) => onServer?.(server, kill, pid),
    });
    return { ran, calls: server.calls };
  } finally {
    await server.close();
  }
}

for (const major of majorsInTurn(...nodeMajors)) {
  const skip = findNode(major) ? false : `Node ${major} is not installed (npm ci --prefix test/nodes)`;

  for (const program of sampleOf(['raw-http.mjs', 'raw-fetch.mjs'], 2))
    test(`${program} on Node ${major}: three APIs, whole and streamed`, { skip }, async () => {
      for (const api of ['chat', 'responses', 'messages'])
        for (const stream of ['whole', 'stream']) {
          const done = await run(program, major, [api, stream, stream === 'whole' ? 'end' : 'pieces'], good);
          assert.ok(done);
          assert.match(done.ran.stdout, /^200 /);
          assertSameAsOracle(done.ran, done.calls, `${api} ${stream}`);
          assert.doesNotMatch(JSON.stringify(done.ran.events), /sk-aaaa|Bearer/);
        }
    });

  test(`encoded replies on Node ${major}`, { skip }, async () => {
    for (const encoding of ['gzip', 'br'] as const)
      for (const stream of ['whole', 'stream']) {
        const done = await run('raw-fetch.mjs', major, ['chat', stream], { ...good, encoding });
        assert.ok(done);
        assertSameAsOracle(done.ran, done.calls, `${encoding} ${stream}`);
      }
  });

  test(`errors and broken replies on Node ${major}`, { skip: onlyWide || skip }, async () => {
    const outcomes: [ScriptedReply, string, string, RegExp][] = [
      [{ status: 429 }, 'whole', 'failed', /rate_limit/],
      [{ status: 500 }, 'stream', 'failed', /server_error/],
      [{ ...good, fault: 'malformed' }, 'whole', 'failed', /malformed_reply/],
      [{ ...good, fault: 'cut' }, 'stream', 'cut', /closed|terminated|aborted/],
      [{ ...good, fault: 'malformed' }, 'stream', 'failed', /malformed_event .*choices/],
    ];
    for (const [script, stream, status, error] of outcomes)
      for (const program of ['raw-fetch.mjs', 'raw-http.mjs']) {
        const done = await run(program, major, ['chat', stream], script);
        const call = stateOf(done?.ran ?? assert.fail()).runs[0]?.modelCalls[0];
        const what = `${program} ${JSON.stringify(script)} ${JSON.stringify(call)}`;
        assert.equal(call?.status, status, what);
        assert.match(`${call.error?.type} ${call.error?.message}`, error, what);
      }
  });

  test(`killed by SIGKILL in the middle of a stream on Node ${major}`, { skip }, async () => {
    const text = 'one two three four five six seven eight nine ten';
    const script = { text, frames: 10, frameDelayMs: 40, fault: 'stall' } as const;
    const done = await run('raw-fetch.mjs', major, ['chat', 'stream'], script, (server, kill, pid) => {
      server.events.on('end', () => untilSettled(pid).then(() => kill('SIGKILL')));
    });
    assert.ok(done);
    assert.equal(done.ran.signal, 'SIGKILL');
    const call = stateOf(done.ran).runs[0]?.modelCalls[0];
    assert.equal(call?.status, 'streaming');
    assert.match(call.partialText ?? '', /^one two three four/);
    assert.ok(done.calls[0]?.sentText.startsWith(call.partialText ?? '?'));
  });

  test(`a stalled reply is in flight in the part written at exit on Node ${major}`, { skip }, async () => {
    const script = { ...good, frames: 8, fault: 'stall' } as const;
    const done = await run('raw-fetch.mjs', major, ['messages', 'stream'], script, (server, kill, pid) => {
      server.events.on('end', () => untilSettled(pid).then(() => kill('SIGTERM')));
    });
    const [state] = stateOf(done?.ran ?? assert.fail()).runs;
    assert.match(
      state?.pending[0] ?? '',
      /model call to anthropic model-1 for .* frames and \d+ bytes so far/,
    );
  });

  test(`nothing shows in what the host can see on Node ${major}`, { skip }, async () => {
    const node = findNode(major) ?? assert.fail();
    const plain = await runProgram('identity.mjs', { node, preload: undefined });
    const tapped = await runProgram('identity.mjs', { node, preload, env: { AGENT_PART_FILE: '' } });
    assert.equal(tapped.stdout, plain.stdout);
    assert.equal(tapped.stderr, plain.stderr);
    assert.ok(tapped.events.length > 2);
  });
}

test('metadata only: nothing of the conversation is recorded', async () => {
  const server = await startMockModelServer(() => good);
  after(() => server.close());
  const ran = await runProgram('raw-fetch.mjs', {
    node: process.execPath,
    preload,
    args: ['chat', 'stream'],
    env: { MODEL_URL: server.url, AGENT_LEVEL: 'metadata' },
  });
  const text = JSON.stringify(ran.events);
  assert.doesNotMatch(text, /hello|Hello|look_up|be kind/);
  const call = stateOf(ran).runs[0]?.modelCalls[0];
  assert.deepEqual(
    [call?.model, call?.status, call?.outputTokens],
    ['model-1', 'finished', server.calls[0]?.reply?.usage.output],
  );
});
