/** `agentdump replay --tool` with a tool of a framework: run, or answered from the record. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startMockModelServer } from '../support/mock-model-server.ts';
import { whyNoAgents } from '../support/real-agents.ts';
import { agents, cleanEnvironment, node, runCli } from '../support/recorded-deaths.ts';
import { bundlesIn, preload, temporaryFolder } from '../support/run-victim.ts';

const ask = { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] };

for (const mode of ['whole', 'stream'])
  test(`AI SDK, ${mode}: its tool is run, or gets its recorded result`, {
    skip: whyNoAgents(24),
  }, async (t) => {
    const dir = temporaryFolder(t);
    const log = join(dir, 'log');
    symlinkSync(join(agents, 'node_modules'), join(dir, 'node_modules'));
    const [program, weather] = ['ai-sdk.mjs', 'weather.mjs'].map((name) =>
      readFileSync(join(agents, name), 'utf8'),
    );
    writeFileSync(join(dir, 'agent.mjs'), `${program}\nthrow new Error('died after its answer');\n`);
    const tool = "({ city }) => (appendFileSync('log', 'ran '), city) &&";
    writeFileSync(
      join(dir, 'weather.mjs'),
      `import { appendFileSync } from 'node:fs';\n${weather?.replace('({ city }) =>', tool)}`,
    );
    const server = await startMockModelServer((_call, turn) => (turn === 0 ? ask : { text: 'It snows.' }));
    const env = cleanEnvironment(dir, { MODEL_URL: server.url });
    const child = spawn(node.path, ['--require', preload, 'agent.mjs', mode], {
      cwd: dir,
      env,
      stdio: 'ignore',
    });
    await once(child, 'exit');
    await server.close();
    const bundle = join(dir, 'dumps', bundlesIn(dir)[0] ?? '');
    const again = async (...words: string[]) => {
      writeFileSync(log, '');
      const { stdout, stderr } = await runCli(
        ['replay', bundle, ...words, '--', node.path, 'agent.mjs', mode],
        dir,
        { MODEL_URL: server.url },
      );
      assert.match(stdout, /^REPRODUCED[\s\S]*answered +2 of 2/, stdout + stderr);
      return readFileSync(log, 'utf8');
    };
    assert.equal(await again('--tool', 'get_weather'), '');
    assert.equal(await again(), 'ran ');
  });
