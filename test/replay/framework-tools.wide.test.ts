/** `agentdump replay --tool` with a framework's tool: run, or answered from the recording. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startMockModelServer } from '../support/agents/mock-model-server.ts';
import { whyNoAgents } from '../support/agents/real-agents.ts';
import { agents, cleanEnvironment, node, runCli } from '../support/agents/recorded-deaths.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../support/victims/run-victim.ts';

const ask = { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] };

const newest = findNodes().find(({ name }) => name === 'Node 24') ?? node;
const oldest = findNodes().find(({ name }) => name === 'Node 20') ?? node;
/** Node 20 needs other module hooks than later versions. */
const cases = [
  { what: 'AI SDK, whole', words: ['ai-sdk', 'whole'], node: newest },
  { what: 'AI SDK, stream', words: ['ai-sdk', 'stream'], node: newest },
  { what: 'LangGraph, whole', words: ['langgraph', 'whole'], node: newest },
  { what: 'LangGraph, stream, Node 20', words: ['langgraph', 'stream'], node: oldest },
  { what: 'LangGraph as CommonJS', words: ['langgraph', 'whole'], node: newest, isCommonJs: true },
  { what: 'LangGraph as CommonJS, Node 20', words: ['langgraph', 'whole'], node: oldest, isCommonJs: true },
  { what: 'OpenAI Agents, whole', words: ['openai-agents', 'whole'], node: newest },
  { what: 'OpenAI Agents, stream, Node 20', words: ['openai-agents', 'stream'], node: oldest },
  { what: 'OpenAI Agents, a tool that fails', words: ['openai-agents', 'whole'], node: newest, fails: true },
];

/** Every second one; all with AGENTDUMP_TEST_MATRIX=full. */
const wanted = cases.filter((_, n) => n % 2 === 1 || process.env['AGENTDUMP_TEST_MATRIX'] === 'full');

for (const { what, words, node, isCommonJs, fails } of wanted)
  test(`${what}: its tool is run, or gets its recorded result`, { skip: whyNoAgents() }, async (t) => {
    const [name = '', mode = ''] = words;
    const dir = temporaryFolder(t);
    const log = join(dir, 'log');
    symlinkSync(join(agents, 'node_modules'), join(dir, 'node_modules'));
    const [program = '', weather] = [`${name}.mjs`, 'weather.mjs'].map((file) =>
      readFileSync(join(agents, file), 'utf8'),
    );
    const file = isCommonJs ? 'agent.cjs' : 'agent.mjs';
    const dies = `${program}\nthrow new Error('died after its answer');\n`;
    writeFileSync(join(dir, file), isCommonJs ? asCommonJs(dies) : dies);
    const tool = fails
      ? "({ city }) => { appendFileSync('log', 'ran '); throw new Error('no station'); };\nexport const unused = ({ city }) =>"
      : "({ city }) => (appendFileSync('log', 'ran '), city) &&";
    writeFileSync(
      join(dir, 'weather.mjs'),
      `import { appendFileSync } from 'node:fs';\n${weather?.replace('({ city }) =>', tool)}`,
    );
    const server = await startMockModelServer((_call, turn) => (turn === 0 ? ask : { text: 'It snows.' }));
    const env = cleanEnvironment(dir, { MODEL_URL: server.url });
    const child = spawn(node.path, ['--require', preload, file, mode], {
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
        ['replay', bundle, ...words, '--', node.path, file, mode],
        dir,
        { MODEL_URL: server.url },
      );
      assert.match(stdout, /^REPRODUCED[\s\S]*answered +2 of 2/, stdout + stderr);
      return readFileSync(log, 'utf8');
    };
    assert.equal(await again('--tool', 'get_weather'), '');
    assert.equal(await again(), 'ran ');
  });

/** Replaces the program's imports by `require`, and its top level by a function. */
function asCommonJs(program: string): string {
  const body = program.replace(
    /^import (\{[^}]*\}) from ('[^']*');$/gm,
    (_, names: string, from: string) => `const ${names} = require(${from});`,
  );
  const local = body.replace("require('./weather.mjs')", "await import('./weather.mjs')");
  return `(async () => {\n${local}\n})().catch((error) => setImmediate(() => { throw error; }));`;
}
