/**
 * A real SIGSEGV in an addon that TypeScript calls, under `agentdump run` on the Nodes of the run: native and JavaScript
 * frames in one stack, the position in the TypeScript source, the true fault record, and the exit signal unchanged. Needs a C
 * compiler.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderCore } from '../../../src/report/core.ts';
import { makeCore, nodes } from '../../support/cores/core-victims.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const sources = fileURLToPath(new URL('../../../fixtures/programs/native/addon/', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-addon-'));
after(() => rmSync(root, { recursive: true }));
const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
const hasCompiler = spawnSync('gcc', ['--version']).status === 0;
const skip =
  pattern !== 'core' || process.arch !== 'x64'
    ? 'no core of the name core here'
    : hasCompiler
      ? false
      : 'no gcc is here';

function build(target: string, ...flags: string[]): void {
  const words = [...flags, '-fPIC', '-shared', '-o', target, join(sources, 'fastjson.c')];
  const built = spawnSync('gcc', words, { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
}

suite('an addon faults under TypeScript', { skip }, () => {
  before(() => {
    mkdirSync(join(root, 'dist'));
    buildSync({
      entryPoints: [join(sources, 'agent.ts')],
      outfile: join(root, 'dist', 'agent.js'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      minifyWhitespace: true,
      sourcemap: true,
    });
    build(join(root, 'dist', 'fastjson.node'), '-O1');
  });

  for (const node of nodes)
    test(`Node ${node.major}`, async () => {
      const cwd = join(root, `node-${node.major}`);
      mkdirSync(cwd);
      const dir = join(cwd, 'dumps');
      const words = ['run', '--dir', dir, '--', node.path, join(root, 'dist', 'agent.js')];
      const { signal, stderr } = spawnSync(process.execPath, [agentdump, ...words], {
        cwd,
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      });
      assert.equal(signal, 'SIGSEGV', stderr);
      assert.deepEqual(readdirSync(cwd), ['dumps']);
      const bundle = openBundle(listBundles(dir)[0]?.path ?? '');
      const account = await analyzeBundle(bundle);
      assertOfSchema(account);
      bundle.close();
      assert.equal(account.verdict?.kind, 'native-crash');
      assert.match(account.verdict?.title ?? '', /SIGSEGV: read through a null pointer/);
      assert.equal(account.signal?.faultAddress, '0x4');
      assert.equal(account.signal?.access, 'read');
      const frames = account.threads?.find((t) => t.crashed)?.frames ?? [];
      const names = [
        'read_token',
        'parse_object',
        'parseArguments',
        'Agent.useTool',
        'Agent.runTask',
        'uv_run',
      ];
      const rows = names.map((name) => frames.findIndex((f) => f.function === name));
      assert.ok(
        rows.every((row, i) => row >= 0 && row > (rows[i - 1] ?? -1)),
        frames.map((f) => f.function).join('\n'),
      );
      const place = (name: string) => frames.find((f) => f.function === name);
      const text = readFileSync(join(sources, 'agent.ts'), 'utf8').split('\n');
      for (const [name, call] of [
        ['parseArguments', 'parse(text)'],
        ['Agent.useTool', 'parseArguments(call)'],
        ['Agent.runTask', 'useTool(reply)'],
      ] as const) {
        assert.match(place(name)?.file ?? '', /agent\.ts$/);
        const line = text[(place(name)?.line ?? 0) - 1] ?? '';
        assert.equal(line.slice((place(name)?.column ?? 0) - 1).indexOf(call), 0, `${name}: ${line}`);
      }
      const locals = place('Agent.runTask')?.locals ?? [];
      assert.equal(locals.find((l) => l.name === 'task')?.value, '"tides at Brest"');
      assert.match(locals.find((l) => l.name === 'this')?.value ?? '', /^Agent \{/);
      assert.ok(account.suspended?.some((s) => s.frames[0]?.function === 'heartbeat'));
      assert.match(renderCore(account), /c\+\+ read_token/);
    });

  test('an addon that names no build: believed where its file is the one that was loaded, and only there', async () => {
    const folder = join(root, 'no-build-id');
    cpSync(join(root, 'dist'), folder, { recursive: true });
    const addon = join(folder, 'fastjson.node');
    build(addon, '-O1', '-Wl,--build-id=none');
    const death = makeCore(process.execPath, [join(folder, 'agent.js')]);
    try {
      const names = ({ threads }: Account) => threads?.[0]?.frames.map((frame) => frame.function) ?? [];
      const same = await accountForCore(death.core, { heap: false });
      const module = same.modules?.native.find(({ path }) => path === addon);
      assert.ok(module && module.buildId === undefined);
      assert.equal(names(same)[0], 'read_token');
      assert.deepEqual(same.gaps, []);
      build(addon, '-O0', '-Wl,--build-id=none');
      const other = await accountForCore(death.core, { heap: false });
      assert.ok(!names(other).includes('read_token'));
      const gap = other.gaps.find(({ part }) => part === `core module ${addon}`);
      assert.match(gap?.reason ?? '', /does not hold its build id, so the file on disk is not trusted/);
      assert.ok(names(other).includes('Agent.useTool'), names(other).join());
    } finally {
      death.remove();
    }
  });
});
