/** What the tests are compiled to follows every change of their sources, also while another run reads it. */
import assert from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const compiler = fileURLToPath(new URL('compile-tests.mjs', import.meta.url));
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** A tree with a compiler of its own. */
async function newTree(context: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-compile-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const copy = join(root, 'test', 'support', 'run', 'compile-tests.mjs');
  mkdirSync(dirname(copy), { recursive: true });
  mkdirSync(join(root, 'src'));
  cpSync(compiler, copy);
  symlinkSync(modules, join(root, 'node_modules'));
  const { compileTests } = await import(pathToFileURL(copy).href);
  const compile = compileTests as () => Promise<void>;
  return { compile, source: join(root, 'src', 'a.ts'), output: join(root, '.tests', 'src', 'a.js') };
}

test('a source that is replaced by an older file is compiled again', async (context) => {
  const { compile, source, output } = await newTree(context);
  writeFileSync(source, 'export const a: number = 1;\n');
  await compile();
  assert.equal(readFileSync(output, 'utf8'), 'export const a         = 1;\n');
  writeFileSync(`${source}.kept`, 'export const a: number = 2;\n');
  utimesSync(`${source}.kept`, 1_600_000_000, 1_600_000_000);
  renameSync(`${source}.kept`, source);
  await compile();
  assert.equal(readFileSync(output, 'utf8'), 'export const a         = 2;\n');
  writeFileSync(output, 'kept\n');
  utimesSync(output, 1_600_000_000, 1_600_000_000);
  await compile();
  assert.equal(readFileSync(output, 'utf8'), 'kept\n', 'what is current is not compiled again');
  rmSync(source);
  await compile();
  assert.equal(existsSync(output), false);
});

test('an output that another run reads stays whole', async (context) => {
  const { compile, source, output } = await newTree(context);
  writeFileSync(source, 'export const a: number = 1;\n');
  await compile();
  const open = openSync(output, 'r');
  context.after(() => closeSync(open));
  writeFileSync(source, 'export const a: string = "two";\n');
  utimesSync(source, 1_700_000_000, 1_700_000_000);
  await compile();
  assert.equal(readFileSync(open, 'utf8'), 'export const a         = 1;\n');
  assert.equal(readFileSync(output, 'utf8'), 'export const a         = "two";\n');
});
