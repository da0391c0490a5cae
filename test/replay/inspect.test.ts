/**
 * `agentdump replay --inspect`, on every Node, with a debugger attached: it waits before the last reply, then at the throw.
 */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findPausePoint, listPausePoints } from '../../src/replay/pause-point.ts';
import type { Recording } from '../../src/replay/recorded/recording.ts';
import { RemoteDebugger } from '../../src/supervise/attach/remote-debugger.ts';
import { startMockModelServer } from '../support/agents/mock-model-server.ts';
import { cleanEnvironment, cli } from '../support/agents/recorded-deaths.ts';
import { nodesInTurn, onlyWide } from '../support/run/test-nodes.ts';
import { bundlesIn, preload, temporaryFolder } from '../support/victims/run-victim.ts';

const here = dirname(fileURLToPath(import.meta.url));

/** Records the small agent, which dies after its second reply. */
async function record(dir: string, node: string): Promise<string> {
  copyFileSync(join(here, 'agent.mjs'), join(dir, 'agent.mjs'));
  const cities = ['Oslo', 'Atlantis'];
  const server = await startMockModelServer((_call, n) => ({
    toolCalls: [{ name: 'get_weather', arguments: { city: cities[n] ?? 'Oslo' } }],
  }));
  const env = cleanEnvironment(dir, { MODEL_URL: server.url });
  const child = spawn(node, ['--require', preload, 'agent.mjs'], { cwd: dir, env, stdio: 'ignore' });
  await once(child, 'exit');
  await server.close();
  return join(dir, 'dumps', bundlesIn(dir)[0] ?? assert.fail('no bundle'));
}

function startReplay(t: TestContext, dir: string, words: string[]) {
  const child = spawn(process.execPath, [cli, 'replay', ...words], { cwd: dir, env: cleanEnvironment(dir) });
  t.after(() => child.kill());
  return { child, said: new Said(child) };
}

/** Collects the output of a process, and waits until it matches. */
class Said {
  text = '';
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        this.text += chunk;
      });
  }

  async waitFor(words: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = words.exec(this.text);
      if (found) return found;
      if (this.#child.exitCode !== null) assert.fail(`ended without ${words}: ${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

interface Paused {
  reason: string;
  callFrames: { callFrameId: string; functionName: string }[];
}

async function evaluate(
  remote: RemoteDebugger,
  { callFrames }: Paused,
  expression: string,
): Promise<unknown> {
  const callFrameId = callFrames[0]?.callFrameId;
  const { result } = await remote.send('Debugger.evaluateOnCallFrame', { callFrameId, expression });
  return (result as { value: unknown }).value;
}

for (const { name, path } of nodesInTurn) {
  test(`${name}: a debugger sees the step before the death, and the throw with its locals`, {
    skip: onlyWide,
  }, async (t) => {
    const dir = temporaryFolder(t);
    const bundle = await record(dir, path);
    const { child, said } = startReplay(t, dir, [bundle, '--inspect', '--', path, 'agent.mjs']);
    const [, url = ''] = await said.waitFor(/waiting before the reply to call c2[\s\S]*or (ws:\S+)/);
    const remote = await RemoteDebugger.connect(url);
    t.after(() => remote.close());
    const pauses: Paused[] = [];
    remote.on('Debugger.paused', (paused) => pauses.push(paused as unknown as Paused));
    await remote.send('Debugger.enable');
    const { breakpointId } = (await remote.send('Debugger.setBreakpointByUrl', {
      urlRegex: '.*/agent\\.mjs$',
      // The line that adds the reply to the messages: the first code of the program itself to run after the wait.
      lineNumber: 22,
    })) as { breakpointId: string };
    child.stdin.write('\n');
    await until(() => pauses.length === 1, said);
    assert.equal(
      await evaluate(remote, pauses[0]!, 'message.tool_calls[0].function.arguments'),
      '{"city":"Atlantis"}',
    );
    await remote.send('Debugger.removeBreakpoint', { breakpointId });
    await remote.send('Debugger.resume');
    await until(() => pauses.length === 2, said);
    const { callFrames } = pauses[1]!;
    assert.equal(callFrames[0]?.functionName, 'weather');
    assert.equal(await evaluate(remote, pauses[1]!, 'city'), 'Atlantis');
    const [, place] = await said.waitFor(/paused at the throw of TypeError: .*\n {2}at weather \((.*)\)/);
    assert.match(place ?? '', /agent\.mjs:18:26$/);
    child.stdin.write('\n');
    remote.close();
    await said.waitFor(/^REPRODUCED: the same death/m);
  });
}

test('without a terminal or a debugger it says where the error is thrown, and goes on', {
  skip: onlyWide,
}, async (t) => {
  const dir = temporaryFolder(t);
  const bundle = await record(dir, process.execPath);
  const words = [bundle, '--inspect', '--until', 'c1', '--', process.execPath, 'agent.mjs'];
  const { child, said } = startReplay(t, dir, words);
  child.stdin.end();
  await said.waitFor(/^REPRODUCED: the same death/m);
  assert.match(said.text, /waiting before the reply to call c1/);
  assert.equal(
    said.text.match(/paused at the throw of TypeError: .*\n {2}at weather/g)?.length,
    1,
    said.text,
  );
});

test('a step without a call of its own is reached before the reply that came last before it', () => {
  const call = (id: string, place: string[]) => ({ id, place }) as Recording['calls'][number];
  const recording = {
    calls: [call('c1', ['s1', 'plan']), call('c2', ['s2', 'ask']), call('c3', [])],
    steps: [
      { id: 's1', name: 'plan' },
      { id: 's2', name: 'ask', after: 'c1' },
      { id: 't1', name: 'send', after: 'c2' },
    ],
  } as Partial<Recording> as Recording;
  const found = (name?: string) => findPausePoint(recording, name)?.id;
  assert.deepEqual(
    [found('plan'), found('ask'), found('send'), found('t1'), found('c3'), found(), found('other')],
    ['c1', 'c2', 'c2', 'c2', 'c3', 'c3', undefined],
  );
  assert.deepEqual(listPausePoints(recording).slice(-1), ['t1 send, after c2']);
});

async function until(isTrue: () => boolean, said: Said): Promise<void> {
  for (let n = 0; !isTrue(); n++) {
    assert.ok(n < 6000, said.text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
