/**
 * Agents of real frameworks, killed by SIGKILL while their tool is running: the bundle names the tool and its arguments.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Account } from '../../../src/model/account.ts';
import { startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { whyNoAgents } from '../../support/agents/real-agents.ts';
import { agents, node, runCli } from '../../support/agents/recorded-deaths.ts';
import { bundlesIn, temporaryFolder } from '../../support/victims/run-victim.ts';

/** Writes its pid to a file once it is running, and never returns. */
const endlessTool = `({ city }) => (writeFileSync('at-work', String(process.pid)), new Promise(() => setInterval(() => {}, 1e6))) ||`;

for (const program of ['langgraph', 'openai-agents', 'ai-sdk'])
  test(`${program}: killed in its tool`, { skip: whyNoAgents() }, async (t) => {
    const dir = temporaryFolder(t);
    symlinkSync(join(agents, 'node_modules'), join(dir, 'node_modules'));
    for (const file of [`${program}.mjs`, 'weather.mjs']) {
      const text = readFileSync(join(agents, file), 'utf8').replace('({ city }) =>', endlessTool);
      writeFileSync(join(dir, file), `import { writeFileSync } from 'node:fs';\n${text}`);
    }
    const server = await startMockModelServer(() => ({
      text: 'I look it up.',
      toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }],
    }));
    t.after(() => server.close());
    const watcher = watch(dir);
    const killed = once(watcher, 'change', { signal: AbortSignal.timeout(60_000) }).then(async () => {
      for (;;) {
        const pid = readPid(join(dir, 'at-work'));
        if (pid) return process.kill(pid, 'SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    const env = { MODEL_URL: server.url };
    await Promise.all([runCli(['run', '--', node.path, `${program}.mjs`, 'whole'], dir, env), killed]);
    watcher.close();
    const bundle = join(dir, 'dumps', bundlesIn(dir)[0] ?? assert.fail('no bundle'));
    const { stdout } = await runCli(['analyze', bundle, '--json'], dir);
    const { agent, verdict } = JSON.parse(stdout) as Account;
    const open = agent?.runs?.flatMap(({ toolCalls = [] }) => toolCalls) ?? [];
    assert.deepEqual(
      open.map(({ name, arguments: given, status, result }) => ({ name, given, status, result })),
      [{ name: 'get_weather', given: { city: 'Oslo' }, status: 'running', result: undefined }],
    );
    assert.equal(verdict?.kind, 'killed');
    const told = await runCli(['analyze', bundle], dir);
    assert.match(told.stdout, /get_weather[^\n]*Oslo/);
  });

function readPid(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}
