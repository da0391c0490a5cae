/**
 * Errors of Node on whose stack the program is not: the account names the call in the program's own files that can have started what
 * failed, if there is only one, and otherwise says that it is not recorded.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { findBundle } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

interface Case {
  name: string;
  /** The line that ends with `// here` starts what fails; without one, several may have. */
  program: string;
}

const cases: readonly Case[] = [
  {
    name: 'a file that is not there, read as a stream',
    program: `const fs = require('node:fs');
function tail(path) {
  return fs.createReadStream(path); // here
}
setTimeout(tail, 10, '/nowhere/a.log');`,
  },
  {
    name: 'a callback that throws what it was given, beside a call of a literal path that did not fail',
    program: `const { mkdir } = require('node:fs');
mkdir('/tmp', () => {});
const save = (id) =>
  mkdir('/proc/nowhere/' + id, (error) => { if (error) throw error; }); // here
setTimeout(save, 10, 3);`,
  },
  {
    name: 'data that is not compressed',
    program: `const zlib = require('node:zlib');
const { Readable } = require('node:stream');
function unpack(stream) {
  return stream.pipe(zlib.createGunzip()); // here
}
unpack(Readable.from([Buffer.from('plain text, and no more')])).resume();`,
  },
  {
    name: 'a method of the same name of another object',
    program: `const fs = require('node:fs');
const doors = { open: () => 'open', readFile: () => '' };
doors.open('front');
doors.readFile();
function load(path) {
  fs.readFile(path, (error) => { if (error) throw error; }); // here
}
setTimeout(load, 10, '/nowhere/settings.json');`,
  },
  {
    name: 'one of two streams',
    program: `const fs = require('node:fs');
const { pipeline } = require('node:stream/promises');
const copy = (from, to) => pipeline(fs.createReadStream(from), fs.createWriteStream(to));
copy(process.execPath, '/nowhere/copy');`,
  },
];

async function accountOf(t: TestContext, node: string, program: string) {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'victim.cjs'), program);
  const { status } = spawnSync(node, ['--require', preload, 'victim.cjs'], {
    cwd: dir,
    env: { PATH: process.env['PATH'], HOME: dir },
  });
  assert.equal(status, 1);
  const bundle = openBundle(findBundle('latest', join(dir, '.agentdump')));
  t.after(() => bundle.close());
  return analyzeBundle(bundle);
}

for (const node of nodesInTurn)
  for (const { name, program } of cases)
    test(`started: ${name}, ${node.name}`, async (t) => {
      const { verdict } = await accountOf(t, node.path, program);
      const line = program.split('\n').findIndex((text) => text.endsWith('// here')) + 1;
      const facts = verdict?.evidence.map(({ fact }) => fact).join('\n') ?? '';
      if (line > 0) {
        assert.equal(verdict?.place?.line, line);
        assert.match(verdict?.title ?? '', new RegExp(`, likely at victim\\.cjs:${line}:\\d+$`));
        assert.match(facts, /no other call that can have failed so was found/);
      } else {
        assert.doesNotMatch(verdict?.title ?? '', /likely/);
        assert.match(facts, /which of these calls failed is not recorded\.$/m);
      }
    });
