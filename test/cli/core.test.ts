/** `agentdump core` through the built program: what it prints, where, and its exit codes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Death, makeCore, noCores, nodes, victims } from '../support/cores/core-victims.ts';
import { onlyWide } from '../support/run/test-nodes.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const run = (...args: string[]) => spawnSync(process.execPath, [bin, 'core', ...args], { encoding: 'utf8' });

suite('agentdump core', { skip: noCores || (existsSync(bin) ? false : 'not built') }, () => {
  let death: Death;
  before(() => {
    death = makeCore(nodes.at(-1)?.path ?? '', [join(victims, 'values.cjs')]);
  });
  after(() => death?.remove());

  test('text: the fault, both worlds, what waits, the heap; 0 with nothing missing', () => {
    const { stdout, stderr, status } = run(death.core);
    assert.equal(stderr, '');
    assert.equal(status, 0);
    const order = [
      '✖ SIGSEGV',
      'Fault',
      'c++ uv_kill',
      '● js  die',
      'Waiting',
      'queryDatabase',
      'Heap',
      'constructor',
    ];
    const places = order.map((text) => stdout.indexOf(text));
    assert.ok(
      places.every((at, i) => at >= 0 && at > (places[i - 1] ?? -1)),
      stdout,
    );
  });

  test('--all shows registers, modules and closures', { skip: onlyWide }, () => {
    const { stdout } = run(death.core, '--all', '--no-heap');
    assert.match(stdout, /rip +0x[0-9a-f]+/);
    assert.match(stdout, /libc\.so/);
    assert.match(stdout, /queryDatabase = \[Function/);
    assert.doesNotMatch(stdout, /^Heap/m);
  });

  test('--json is one document; 1 with a gap', () => {
    const { stdout, status } = run(death.core, '--json', '--exe', nodes[0]?.path ?? '');
    const account = JSON.parse(stdout);
    assert.equal(account.schema, 'agentdump.analysis/1');
    assert.equal(status, nodes.length > 1 ? 1 : 0);
  });

  test('--html is one page with the same account', { skip: onlyWide }, () => {
    const { stdout, status } = run(death.core, '--html', '-');
    const account = JSON.parse(/id="account">(.*)<\/script>/.exec(stdout)?.[1] ?? '');
    assert.equal(account.signal.name, 'SIGSEGV');
    assert.ok(account.suspended.length > 0);
    assert.equal(status, 0);
  });

  test('--mini writes a core that gives the same text', { skip: onlyWide }, () => {
    const target = join(dirname(death.core), 'mini.gz');
    const made = run(death.core, '--mini', target);
    assert.match(made.stderr, /mini\.gz: \d+ bytes/);
    assert.equal(run(target).stdout, made.stdout);
  });

  test('through a pipe, packed: the same text', { skip: onlyWide }, () => {
    const input = gzipSync(readFileSync(death.core), { level: 1 });
    const { stdout, status, stderr } = spawnSync(process.execPath, [bin, 'core', '-', '--no-heap'], {
      encoding: 'utf8',
      input,
    });
    assert.equal(stderr, '');
    assert.equal(stdout, run(death.core, '--no-heap').stdout);
    assert.equal(status, 0);
  });

  test('questions to its heap: a query, and what refers to an object by its address', {
    skip: onlyWide,
  }, () => {
    const [node] = JSON.parse(run(death.core, 'query', 'class = Ticket', '--json').stdout).nodes;
    assert.equal(node.class, 'Ticket');
    assert.match(run(death.core, 'refs', `@${node.id}`).stdout, /Ticket/);
  });

  test('the classes of its heap, no object at an address, and a question that is none', {
    skip: onlyWide,
  }, () => {
    assert.match(run(death.core, '--objects').stdout, / Ticket(?: |$)/m);
    assert.equal(run(death.core, 'inspect', '@0x10').status, 3);
    const unknown = run(death.core, 'wonder');
    assert.equal(unknown.status, 2);
    assert.match(
      unknown.stderr,
      /wonder is no question: there are inspect, refs, path, paths, query, strings/,
    );
  });

  test('3 for what is no core, with a word on what is wanted', () => {
    const { stderr, status, stdout } = run(bin);
    assert.equal(status, 3);
    assert.equal(stdout, '');
    assert.match(stderr, /core of a 64-bit Linux process/);
    assert.equal(run('/nowhere').status, 3);
  });
});
