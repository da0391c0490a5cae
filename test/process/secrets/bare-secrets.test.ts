/** A value that one part of a bundle withholds stands bare in none: not in the message, the output, the source, the report. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const password = ['Sommer', 'regen-', '1987!'].join('');
const value = ['kq8Zr2VtLm4', 'Xw9BdTy6Qs'].join('');

for (const node of nodesInTurn)
  test(`${node.name}: a password of the command line and a random variable, bare in the program`, (t) => {
    const dir = temporaryFolder(t);
    const program = join(dir, 'program.cjs');
    writeFileSync(
      program,
      `const expected = '${password}', other = '${value}';\n` +
        "console.log('begun with', expected, other);\n" +
        'const given = process.argv[3] + " to " + process.env.PLACE;\n' +
        'setTimeout(() => { throw new Error("no access with " + given); }, 20);\n',
    );
    const env = { ...process.env, AGENTDUMP_DIR: join(dir, 'dumps'), PLACE: value };
    const died = spawnSync(node.path, ['--require', preload, program, '--password', password], { env });
    assert.notEqual(died.status, 0);
    const files = filesBelow(join(dir, 'dumps'));
    assert.ok(
      files.some((file) => /sources/.test(file)),
      `no source among ${files.join(', ')}`,
    );
    for (const file of files) {
      const text = readFileSync(file, 'latin1');
      assert.ok(!text.includes('regen-1987') && !text.includes(value), file);
    }
  });

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true })
    .map((name) => join(dir, String(name)))
    .filter((file) => statSync(file).isFile());
