/** The command line and durable runs in processes that believe they run on macOS or Windows. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeHeapSnapshot } from 'node:v8';
import { sampleOf } from '../support/run/test-nodes.ts';
import { nameOf, pretences, pretend } from '../support/system/pretend-platform.ts';
import { bundlesIn, temporaryFolder } from '../support/victims/run-victim.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const agentdump = pathOf('../../bin/agentdump.js');
const twentySteps = pathOf('../durable/programs/twenty-steps.mjs');

const failing = `const test = require('node:test');
test('adds', () => require('node:assert').equal(1 + 1, 3));`;

for (const pretence of sampleOf(pretences, pretences.length))
  describe(nameOf(pretence), () => {
    test('a death under `agentdump run`, and its analysis', async (t) => {
      const cwd = temporaryFolder(t);
      writeFileSync(join(cwd, 'boom.cjs'), "setTimeout(() => { throw new Error('boom'); }, 20);");
      const words = [agentdump, 'run', '--', process.execPath, 'boom.cjs'];
      const { code } = await pretend(pretence, words, { cwd, isBare: true });
      assert.equal(code, 1);
      const names = bundlesIn(cwd);
      assert.equal(names.length, 1, names.join());
      assert.match(names[0] ?? '', /-uncaught-exception-[0-9a-f]{8}\.agentdump$/);
      const analysis = await pretend(pretence, [agentdump, 'analyze', 'latest', '--json'], {
        cwd,
        isBare: true,
      });
      const account = JSON.parse(analysis.stdout);
      assert.equal(account.verdict.kind, 'uncaught-exception');
      assert.equal(account.error.message, 'boom');
      const missing = account.gaps.map(({ reason }: { reason: string }) => reason);
      const named = missing.filter((reason: string) => reason.startsWith('not available on '));
      const title = { darwin: 'macOS', win32: 'Windows', linux: '' }[pretence.platform];
      for (const what of title === ''
        ? []
        : ['control groups', 'threads', 'objects are mapped', 'descriptors'])
        assert.ok(
          named.some((reason: string) => reason.includes(what) && reason.includes(title)),
          `${what} is not among ${missing.join(' | ')}`,
        );
    });

    test('what a heap holds', async (t) => {
      const cwd = temporaryFolder(t);
      const file = writeHeapSnapshot(join(cwd, 'own.heapsnapshot'));
      const { stdout, code } = await pretend(pretence, [agentdump, 'heap', 'classes', file], {
        cwd,
        isBare: true,
      });
      assert.equal(code, 0);
      assert.match(stdout, /^\d+ classes in /);
    });

    test('a red run of `agentdump ci`', async (t) => {
      const cwd = temporaryFolder(t);
      writeFileSync(join(cwd, 'sum.test.cjs'), failing);
      const words = [agentdump, 'ci', '--report', 'report', '--', process.execPath, '--test', 'sum.test.cjs'];
      const { code, stderr } = await pretend(pretence, words, { cwd, isBare: true });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /2 == 3/);
      const summary = JSON.parse(readFileSync(join(cwd, 'report', 'summary.json'), 'utf8'));
      assert.match(JSON.stringify(summary), /sum\.test\.cjs/);
    });

    test('a durable run goes on after a kill', async (t) => {
      const cwd = temporaryFolder(t);
      const truth = join(cwd, 'truth');
      const killer = join(cwd, 'killer.cjs');
      // Stands in for a power cut, in the middle of the seventh step.
      writeFileSync(
        killer,
        `const fs = require('node:fs');
        const timer = setInterval(() => {
          if (fs.existsSync(${JSON.stringify(truth)}) && fs.readFileSync(${JSON.stringify(truth)}, 'utf8').includes('begin 7')) process.kill(process.pid, 'SIGKILL');
        }, 1);
        timer.unref();`,
      );
      const words = [twentySteps, truth, join(cwd, 'dumps')];
      const first = await pretend(pretence, ['--require', killer, ...words], { cwd });
      assert.equal(first.signal, 'SIGKILL', first.stderr);
      const second = await pretend(pretence, words, { cwd });
      assert.equal(second.code, 0, second.stderr);
      const told = readFileSync(truth, 'utf8').trim().split('\n');
      for (let step = 1; step <= 20; step++) {
        const ends = told.filter((line) => line === `return ${step}`).length;
        assert.ok(ends === 1 || (ends === 2 && step === 7), `step ${step} ended ${ends} times`);
      }
      assert.match(told.at(-1) ?? '', /^result /);
      assert.ok(readdirSync(join(cwd, 'dumps')).includes('runs'));
    });
  });
