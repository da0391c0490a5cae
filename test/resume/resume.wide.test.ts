/** Runs of real frameworks, killed in a tool and started again: nothing that had finished happens twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRun } from '../../src/resume/index.ts';
import { startMockModelServer } from '../support/agents/mock-model-server.ts';
import { whyNoAgents } from '../support/agents/real-agents.ts';
import { agents, node } from '../support/agents/recorded-deaths.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

const skip = whyNoAgents();

async function runAgent(words: string[], env: Record<string, string>) {
  const child = spawn(node.path, [join(agents, 'resumable.mjs'), ...words], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code, signal] = await once(child, 'close');
  return { end: code ?? signal, stdout, stderr };
}

for (const framework of ['ai-sdk', 'openai-agents'])
  for (const mode of ['whole', 'stream'])
    test(`${framework}, ${mode}: killed in its second tool, it goes on there`, { skip }, async (t) => {
      const cities = ['Oslo', 'Bergen'];
      const server = await startMockModelServer((_call, n) =>
        n < 2
          ? { toolCalls: [{ name: 'get_weather', arguments: { city: cities[n] } }] }
          : { text: 'Snow in both. ❄', frames: 5 },
      );
      t.after(() => server.close());
      const dir = temporaryFolder(t);
      const log = join(dir, 'log');
      const words = [framework, mode, join(dir, 'runs'), log];
      const env = { MODEL_URL: server.url };
      assert.equal((await runAgent(words, env)).end, 'SIGKILL');
      assert.equal(server.calls.length, 2);
      const doubtful = await runAgent(words, { ...env, IN_DOUBT: 'fail' });
      assert.match(
        doubtful.stdout + doubtful.stderr + JSON.stringify(server.calls),
        /was started by a process that died/,
      );
      const before = server.calls.length;
      const second = await runAgent(words, env);
      assert.match(second.stdout, /^ANSWER Snow in both. ❄/, second.stderr);
      assert.deepEqual(readFileSync(log, 'utf8').trim().split('\n').slice(0, 2), ['Oslo', 'Bergen']);
      assert.ok(!readFileSync(log, 'utf8').trim().split('\n').slice(2).includes('Oslo'));
      assert.ok(server.calls.length <= before + 1);
      const third = await runAgent(words, { MODEL_URL: 'http://127.0.0.1:1' });
      assert.equal(third.stdout, second.stdout, third.stderr);
    });

test('an unfinished stream and an error are asked again, a finished reply is not', async (t) => {
  const dir = temporaryFolder(t);
  let asked = 0;
  const replies = [
    () => new Response('no', { status: 500 }),
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(new Error('connection lost'));
          },
        }),
      ),
    () => new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  ];
  const fetch = async () => replies[asked++]!();
  const ask = async () => {
    const run = openRun({ dir, id: 'r', fetch });
    try {
      const response = await run.fetch('http://model/v1', { method: 'POST', body: 'the same' });
      return [response.status, response.headers.get('content-type'), await response.text()];
    } catch (error) {
      return (error as Error).message;
    } finally {
      run.close();
    }
  };
  assert.deepEqual(await ask(), [500, 'text/plain;charset=UTF-8', 'no']);
  assert.equal(await ask(), 'connection lost');
  const whole = [200, 'text/event-stream', 'data: 1\n\n'];
  assert.deepEqual(await ask(), whole);
  assert.deepEqual(await ask(), whole);
  assert.equal(asked, 3);
});

test('pieces of work: results, errors, and what is no JSON', async (t) => {
  const dir = temporaryFolder(t);
  let ran = 0;
  const work = async () => {
    const run = openRun({ dir, id: 'w' });
    const twice = [
      await run.once('add', 1, () => ({ n: ++ran })),
      await run.once('add', 1, () => ({ n: ++ran })),
    ];
    const nothing = await run.once('nothing', null, () => undefined);
    const failure = await run
      .once('fail', 1, () => assert.fail(`run ${++ran}`))
      .catch((error) => [error.name, error.message]);
    await assert.rejects(
      run.once('function', 1, () => () => 0),
      { message: /function can't be kept: it is no JSON/ },
    );
    run.close();
    return { twice, nothing, failure };
  };
  const first = await work();
  assert.deepEqual(first, {
    twice: [{ n: 1 }, { n: 2 }],
    nothing: undefined,
    failure: ['AssertionError', 'run 3'],
  });
  assert.deepEqual(await work(), first);
  assert.equal(ran, 3);
});
