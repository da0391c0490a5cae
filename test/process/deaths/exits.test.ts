/**
 * AGENTDUMP_EXITS: a program that ends with its own exit code is not a death, unless it ran an agent, a server or a run. Each
 * program is one that really ends this way.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sampleOf } from '../../support/run/test-nodes.ts';
import { findNodes, type NodeBinary, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const api = new URL('../../../dist/index.js', import.meta.url).href;

/** A model that answers with text. */
const model = createServer((request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'no' }, finish_reason: 'stop' }] }),
  );
}).unref();
await new Promise((listening) => model.listen(0, '127.0.0.1', () => listening(undefined)));
const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;

interface Program {
  name: string;
  text: string;
  /** Verdict kinds by setting. If only `agent` is given, only that setting is tried. */
  agent: string[];
  all?: string[];
  off?: string[];
  code: number;
  /** Path of the script within its folder. */
  file?: string;
}

const ask = `await fetch('${url}/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: '?' }] }) }).then((answer) => answer.text());`;
const server = `import { createServer } from 'node:http';
const server = createServer(); await new Promise((done) => server.listen(0, '127.0.0.1', done));`;

const programs: Program[] = [
  { name: 'a tool that exits', text: 'process.exit(2)', agent: [], all: ['exit'], off: [], code: 2 },
  { name: 'a tool that sets its code', text: 'process.exitCode = 3', agent: [], all: ['exit'], code: 3 },
  {
    name: 'a tool that fails in a listener of exit',
    text: "process.on('exit', () => { process.exitCode = 4; })",
    agent: [],
    all: ['exit'],
    code: 4,
  },
  {
    name: 'a tool that has asked a registry',
    text: `await fetch('${url}/left-pad').then((answer) => answer.text()); process.exit(1);`,
    agent: [],
    code: 1,
  },
  {
    name: 'a program that has asked a model',
    text: `${ask} process.exit(1);`,
    agent: ['exit'],
    off: [],
    code: 1,
  },
  {
    name: 'a run of the API',
    text: `import { agent } from '${api}'; await agent.run('job', async () => {}); process.exitCode = 1;`,
    agent: ['exit'],
    code: 1,
  },
  {
    name: 'a program with state for the dump',
    text: `import { agent } from '${api}'; agent.set('plan', {}); process.exit(1);`,
    agent: ['exit'],
    code: 1,
  },
  { name: 'a server', text: `${server} process.exit(1);`, agent: ['exit'], off: [], code: 1 },
  {
    name: 'a server that has shut itself down',
    text: `${server} setTimeout(() => server.close(() => process.exit(1)), 1_200);`,
    agent: ['exit'],
    code: 1,
  },
  {
    name: 'a look for a free port',
    text: `${server} server.close(() => process.exit(1));`,
    agent: [],
    code: 1,
  },
  {
    name: 'a server whose port is taken',
    text: `import { createServer } from 'node:net';
      createServer().on('error', () => process.exit(1)).listen(${new URL(url).port}, '127.0.0.1');`,
    agent: ['exit'],
    off: [],
    code: 1,
  },
  {
    name: 'a look for a free port that finds the first one taken',
    text: `import { createServer } from 'node:net';
      createServer().on('error', () => { const next = createServer().listen(0, '127.0.0.1', () => next.close(() => process.exit(1))); })
        .listen(${new URL(url).port}, '127.0.0.1');`,
    agent: [],
    code: 1,
  },
  {
    name: 'a tool that runs already, as its pipe says',
    text: `import { createServer } from 'node:net';
      const path = process.platform === 'win32' ? String.raw\`\\\\.\\pipe\\once-\` + process.pid : './once';
      createServer().listen(path, () => createServer().on('error', () => process.exit(1)).listen(path)).unref();`,
    agent: [],
    code: 1,
  },
  {
    name: 'a line to a child of its own',
    text: `import { createServer } from 'node:net'; import { rmSync } from 'node:fs';
      const path = (process.platform === 'win32' ? String.raw\`\\\\.\\pipe\\line-\` : './line-') + process.pid;
      createServer().listen(path, () => { if (process.platform !== 'win32') rmSync(path); process.exit(1); }).unref();`,
    agent: [],
    code: 1,
  },
  {
    name: 'a server that Ctrl-C ends',
    text: `${server} process.exit(130);`,
    agent: [],
    all: ['exit'],
    code: 130,
  },
  {
    name: 'a failed test of a server',
    text: `import { test } from 'node:test'; ${server} test('it', () => { server.close(); throw new Error('wrong'); });`,
    agent: [],
    code: 1,
  },
  {
    name: 'a runner of tests that has started a server',
    text: `${server} process.exit(1);`,
    agent: [],
    code: 1,
    file: 'node_modules/mocha/bin/mocha.mjs',
  },
  {
    name: 'a pending await',
    text: 'await new Promise(() => {});',
    agent: ['pending-exit'],
    off: ['pending-exit'],
    code: 13,
  },
  { name: 'exit code 13 on purpose', text: 'process.exitCode = 13', agent: [], all: ['exit'], code: 13 },
  {
    name: 'a listener of exit that sets 13',
    text: "process.on('exit', () => { process.exitCode = 13; })",
    agent: [],
    all: ['exit'],
    code: 13,
  },
  { name: 'exit 13 on purpose', text: 'process.exit(13)', agent: [], all: ['exit'], code: 13 },
  {
    name: 'a throw',
    text: "throw new Error('x')",
    agent: ['uncaught-exception'],
    off: ['uncaught-exception'],
    code: 1,
  },
  {
    name: 'a failed start',
    text: "import 'not-there'",
    agent: ['startup-failure'],
    off: ['startup-failure'],
    code: 1,
  },
  {
    name: 'a worker that exits in a program that goes on',
    text: `import { Worker, isMainThread } from 'node:worker_threads'; import { fileURLToPath } from 'node:url';
      if (isMainThread) new Worker(fileURLToPath(import.meta.url)); else process.exit(5);`,
    agent: ['worker-death'],
    off: [],
    code: 0,
  },
  {
    name: "a worker of a tool's pool that exits",
    text: `import { Worker, isMainThread } from 'node:worker_threads'; import { fileURLToPath } from 'node:url';
      if (isMainThread) new Worker(fileURLToPath(import.meta.url)); else process.exit(5);`,
    agent: [],
    code: 0,
    file: 'node_modules/pool/worker.mjs',
  },
];

/** These depend on the Node version, and are tried on every Node; the others only on the first. */
const ofEveryNode = new Set([
  'a tool that exits',
  'a server that has shut itself down',
  'a failed test of a server',
]);
const nodes = findNodes();
for (const node of nodes)
  for (const program of sampleOf(programs, 8))
    for (const setting of ['agent', 'all', 'off'] as const) {
      const expected = program[setting];
      const isMeant = node === nodes[0] || (setting === 'agent' && ofEveryNode.has(program.name));
      if (expected === undefined || !isMeant) continue;
      test(`${node.name}, ${setting}: ${program.name}`, async (t) => {
        const { code, stderr, bundles } = await run(t, node, program, setting);
        assert.equal(code, program.code, stderr);
        assert.deepEqual(bundles, expected);
        assert.equal(/^agentdump:/m.test(stderr), expected.length > 0, stderr);
      });
    }

async function run(t: TestContext, node: NodeBinary, { text, file = 'plain.mjs' }: Program, setting: string) {
  const dir = temporaryFolder(t);
  const script = join(dir, file);
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, text);
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    NODE_OPTIONS: `--require ${preload}`,
    AGENTDUMP_HEAP: 'off',
  };
  const child = spawn(node.path, [script], {
    cwd: dir,
    env: setting === 'agent' ? env : { ...env, AGENTDUMP_EXITS: setting },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, stderr, bundles: verdictsIn(join(dir, '.agentdump')) };
}

function verdictsIn(dumps: string): string[] {
  const names = (() => {
    try {
      return readdirSync(dumps);
    } catch {
      return [];
    }
  })();
  return names.flatMap(
    (name) => /^\d+T[\d.]+Z-[a-z]+-([a-z-]+)-[0-9a-f]{8}\.agentdump$/.exec(name)?.[1] ?? [],
  );
}

test('what only starts others (npm, cross-env) has no journal for that, a program has', async (t) => {
  const text = `import { spawn } from 'node:child_process'; import { existsSync } from 'node:fs';
    spawn(process.execPath, ['-e', '']); process.exit(existsSync('.agentdump/sessions') ? 0 : 1);`;
  const codeOf = async (file: string) =>
    (
      await run(
        t,
        nodes[0] ?? assert.fail('no Node'),
        { name: file, text, file, agent: [], code: 0 },
        'agent',
      )
    ).code;
  assert.equal(await codeOf('plain.mjs'), 0);
  assert.equal(await codeOf('bin/cross-env.mjs'), 1);
});
