/**
 * Requests of `node:http2` on every Node that has channels for them: recorded like those of other clients, without effect on
 * the host.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertSameAsOracle, stateOf } from '../../support/agents/agent-oracle.ts';
import { buildPreload, findNode, nodeMajors, runProgram } from '../../support/agents/agent-preload.ts';
import { type ScriptedReply, startMockModelServer } from '../../support/agents/mock-model-server.ts';

const good: ScriptedReply = {
  text: 'Hello there — how are you 😀 today?',
  toolCalls: [{ name: 'look_up', arguments: { query: 'ü', limit: 3 } }],
  frames: 9,
};
const agents = fileURLToPath(new URL('../../agents', import.meta.url));
let preload = '';
before(async () => {
  preload = await buildPreload();
});

async function run(node: string, args: string[], script: ScriptedReply, program = 'raw-http2.mjs') {
  const server = await startMockModelServer(() => script, undefined, 'http2');
  try {
    const ran = await runProgram(program, { node, preload, args, env: { MODEL_URL: server.url } });
    return { ran, calls: server.calls };
  } finally {
    await server.close();
  }
}

for (const major of nodeMajors.filter((major) => major >= 22)) {
  const node = findNode(major) ?? '';
  const skip = node ? false : `Node ${major} is not installed (npm ci --prefix test/nodes)`;

  test(`model calls by HTTP/2 on Node ${major}: three APIs, whole, streamed and encoded`, {
    skip,
  }, async () => {
    for (const api of ['chat', 'responses', 'messages'])
      for (const [stream, how] of [
        ['whole', 'end'],
        ['stream', 'pieces'],
      ] as const) {
        const { ran, calls } = await run(node, [api, stream, how], good);
        assert.match(ran.stdout, /^200 [1-9]/);
        assertSameAsOracle(ran, calls, `${api} ${stream}`);
        assert.doesNotMatch(JSON.stringify(ran.events), /sk-aaaa|Bearer/);
        const [start] = ran.events.filter(({ kind }) => kind === 'model.start');
        assert.deepEqual([start.source, start.attributes['server.address']], ['http2', '127.0.0.1']);
      }
    const { ran, calls } = await run(node, ['chat', 'stream'], { ...good, encoding: 'gzip' });
    assertSameAsOracle(ran, calls, 'gzip');
  });

  test(`how a call by HTTP/2 ends on Node ${major}`, { skip }, async () => {
    const slow = { ...good, frameDelayMs: 30 };
    const outcomes: [ScriptedReply, string, string, RegExp][] = [
      [{ status: 429 }, 'end', 'failed', /rate_limit/],
      [{ ...good, fault: 'malformed' }, 'end', 'failed', /malformed_event/],
      [{ ...good, fault: 'cut' }, 'end', 'cut', /closed before the end/],
      [slow, 'close', 'cut', /closed before the end/],
      [slow, 'cancel', 'aborted', /cancelled/],
    ];
    for (const [script, how, status, error] of outcomes) {
      const { ran } = await run(node, ['chat', 'stream', how], script);
      const call = stateOf(ran).runs[0]?.modelCalls[0];
      const what = `${how} ${JSON.stringify(script)} ${JSON.stringify(call)} ${ran.stdout}`;
      assert.equal(call?.status, status, what);
      assert.match(`${call.error?.type} ${call.error?.message}`, error, what);
    }
  });

  const noUndici = existsSync(join(agents, 'node_modules')) ? skip : 'npm ci --prefix test/agents';
  test(`what undici sends by HTTP/2 is recorded once on Node ${major}`, { skip: noUndici }, async () => {
    const { ran, calls } = await run(node, [], good, join(agents, 'http', 'undici-h2.mjs'));
    assert.match(ran.stdout, /^200 [1-9]/, ran.stderr);
    assertSameAsOracle(ran, calls, 'undici');
    const sources = ran.events.filter(({ kind }) => kind === 'model.start').map(({ source }) => source);
    assert.deepEqual(sources, ['undici']);
  });

  test(`nothing of the tap on HTTP/2 shows on Node ${major}, and all is recorded`, { skip }, async () => {
    const plain = await runProgram('http2-identity.mjs', { node, preload: undefined });
    const tapped = await runProgram('http2-identity.mjs', { node, preload, env: { AGENT_PART_FILE: '' } });
    assert.equal(tapped.stdout, plain.stdout);
    assert.equal(tapped.stderr, plain.stderr);
    assert.match(plain.stdout, /ERR_HTTP2_STREAM_ERROR/);
    const ends = tapped.events.filter(({ kind }) => kind === 'http.end');
    assert.deepEqual(
      ends.map(({ method, status, httpStatus, bytes, error }) => [
        method,
        status,
        httpStatus,
        bytes,
        error?.code,
      ]),
      [
        ['GET', 'finished', 200, 7, undefined],
        ['GET', 'finished', 204, 0, undefined],
        ['GET', 'failed', undefined, 0, 'ERR_HTTP2_STREAM_ERROR'],
        ['GET', 'failed', undefined, 0, 'ERR_HTTP2_STREAM_CANCEL'],
      ],
    );
  });
}
