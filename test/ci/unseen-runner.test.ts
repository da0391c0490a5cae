/** Jest with jest-jasmine2, whose tests can't be followed: the report says so, and blames nothing that they handled. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { problemsOf } from '../../src/report/ci/wording.ts';
import { runUnderCi } from '../support/runners/runner-matrix.ts';

/** Like jest-jasmine2, it takes what tests reject, and sends no events. */
const runner = `process.on('unhandledRejection', () => { process.exitCode = 1; });
Promise.reject(new Error('deliberate'));
setTimeout(() => {}, 50);
`;

for (const name of ['jest-jasmine2', 'jest-other'])
  test(`a run of jest that loads ${name}`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-unseen-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const isUnseen = name === 'jest-jasmine2';
    const main = 'node_modules/jest/bin/jest.js';
    const file = join(folder, 'node_modules', name, 'build', 'index.js');
    for (const path of [file, join(folder, main)]) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(file, runner);
    writeFileSync(join(folder, main), `require(${JSON.stringify(file)});`);
    const { summary, output } = await runUnderCi({ folder, death: 'none', command: ['node', main] });
    assert.ok(summary, output);
    assert.equal(summary.bundles.length, 1, output);
    assert.equal(problemsOf(summary).length, isUnseen ? 0 : 1, output);
    const said = /the tests of jest-jasmine2 were not seen/;
    assert.equal(said.test(output), isUnseen, output);
    assert.equal(said.test(`${summary.gaps}`), isUnseen);
    assert.equal(/its tests were not seen/.test(output), isUnseen, output);
    assert.equal(/0 tests finished/.test(output), !isUnseen, output);
  });
