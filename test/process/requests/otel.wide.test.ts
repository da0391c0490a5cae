/**
 * The span processor with OpenTelemetry's own SDK, in a program that dies in a tool: what the bundle contains about its
 * spans.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { startMockModelServer } from '../../support/agents/mock-model-server.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const agents = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'agents');
const processor = pathToFileURL(join(dirname(preload), 'agent', 'otel', 'index.js')).href;
const skip = existsSync(join(agents, 'node_modules', '@opentelemetry', 'sdk-trace-base'))
  ? false
  : 'no OpenTelemetry here';

async function run(t: TestContext, which: string, node: string, flags = ['--require', preload]) {
  const dir = temporaryFolder(t);
  const server = await startMockModelServer(() => ({ text: 'Snow.' }));
  try {
    const child = spawn(node, [...flags, join(agents, 'otel.mjs'), which], {
      cwd: dir,
      stdio: 'ignore',
      env: {
        PATH: '',
        HOME: dir,
        MODEL_URL: server.url,
        AGENTDUMP_OTEL: processor,
        AGENTDUMP_DIR: join(dir, 'dumps'),
      },
    });
    const [code] = await once(child, 'exit');
    assert.equal(code, 1);
  } finally {
    await server.close();
  }
  const [name] = bundlesIn(dir);
  if (name === undefined) return undefined;
  const bundle = openBundle(join(dir, 'dumps', name));
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  bundle.close();
  return account;
}

for (const { name, path } of findNodes().filter(({ name }) => /2[04]$/.test(name))) {
  for (const which of ['genai', 'openinference'])
    test(`${name}: ${which} spans are a run with its model call, tool and failure`, { skip }, async (t) => {
      const account = await run(t, which, path);
      const [agentRun, ...others] = account?.agent?.runs ?? [];
      assert.equal(others.length, 0);
      assert.equal(agentRun?.name, which === 'genai' ? 'weather' : 'graph');
      assert.equal(agentRun?.steps.length, which === 'genai' ? 0 : 1);
      const [call] = agentRun?.modelCalls ?? [];
      assert.deepEqual([call?.model, call?.inputTokens, call?.outputTokens], ['local-model', 12, 3]);
      assert.match(JSON.stringify(agentRun?.messages), /How is Oslo\?/);
      const [tool, another] = agentRun?.toolCalls ?? [];
      assert.equal(another === undefined || another.status === 'requested', true);
      assert.deepEqual(
        [tool?.name, tool?.status, tool?.arguments],
        ['get_weather', 'failed', { city: 'Oslo' }],
      );
      assert.match(
        account?.verdict?.summary ?? '',
        /^(?:The error (?:was thrown by|came from)|Probable cause:) tool get_weather/,
      );
    });

  test(`${name}: calls side by side are each told once, by the tap or by the span`, { skip }, async (t) => {
    const account = await run(t, 'mixed', path);
    const calls = account?.agent?.runs.flatMap((one) => one.modelCalls) ?? [];
    const models = calls.map(({ model, provider }) => `${provider ?? 'span'} ${model}`).sort();
    const wire = 'openai_compatible gpt-x';
    assert.deepEqual(models, [wire, wire, wire, wire, 'span local-model']);
  });

  test(`${name}: a model call that a tap saw is told once, beside Anthropic's own spans`, {
    skip,
  }, async (t) => {
    const account = await run(t, 'anthropic', path);
    const calls = account?.agent?.runs.flatMap((one) => one.modelCalls) ?? [];
    assert.deepEqual(
      calls.map(({ model, status }) => [model, status]),
      [['claude-x', 'finished']],
    );
  });
}

test('without the preload the processor does nothing', { skip }, async (t) => {
  assert.equal(await run(t, 'genai', process.execPath, []), undefined);
});
