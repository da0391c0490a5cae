/** The scrubber of finisher and capture: each call verifies itself, and what was written is searched again. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';
import { canary } from '../../../src/capture/fatal-path/canary.ts';
import { createPolicy } from '../../../src/redaction/index.ts';
import { proveScrubber, sealProven } from '../../../src/supervise/scrub/proven-scrubber.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';

test('redacts as its policy does, and leaves no trace of the canary', () => {
  const scrubber = makeScrubber({ API_KEY: 'q8w7e6r5t4y3u2' });
  assert.match(scrubber.text('got q8w7e6r5t4y3u2'), /^got \[redacted:/);
  assert.match(
    String((scrubber.value({ a: ['q8w7e6r5t4y3u2', 7] }) as { a: unknown[] }).a[0]),
    /^\[redacted:/,
  );
  assert.deepEqual(scrubber.value(['x', 7]), ['x', 7]);
  assert.deepEqual(scrubber.argv(['node', 'app.js']), ['node', 'app.js']);
  assert.match(
    scrubber.argv(['node', '--token', 'x9y8z7w6v5']).join(' '),
    /^node --token \[redacted:token#\w+\]$/,
  );
  assert.equal(scrubber.code('const a = 1;\n'), 'const a = 1;\n');
  assert.equal(scrubber.names('a\nb'), 'a\nb');
  const counted = [...scrubber.counts().values()].reduce((sum, count) => sum + count, 0);
  assert.equal(counted, 3);
});

test('a policy that lets the canary through gives nothing but the reason', () => {
  const scrubber = proveScrubber(createPolicy());
  for (const out of [
    scrubber.text('some text'),
    scrubber.value({ a: 'some text' }),
    scrubber.argv(['some', 'text']),
  ]) {
    assert.match(JSON.stringify(out), /withheld as a whole: a planted secret came through/);
    assert.doesNotMatch(JSON.stringify(out), /some/);
  }
});

test('a stream and an environment prove themselves too', () => {
  const scrubber = makeScrubber({ API_KEY: 'q8w7e6r5t4y3u2' });
  const stream = scrubber.stream();
  const out =
    ['got q8w7e6', 'r5t4y3u2 here\n', 'end'].map((chunk) => stream.write(chunk)).join('') + stream.end();
  assert.match(out, /^got \[redacted:[a-z-]+#\w+\] here\nend$/);
  assert.equal(scrubber.stream().end(), '');
  const entries = scrubber.environment({ PATH: '/bin', API_KEY: 'q8w7e6r5t4y3u2' }) as Record<
    string,
    unknown
  >;
  assert.deepEqual(Object.keys(entries).sort(), ['API_KEY', 'PATH']);
  assert.doesNotMatch(JSON.stringify(entries), /q8w7/);

  const blind = proveScrubber(createPolicy());
  const leaky = blind.stream();
  const shown = leaky.write('some text\n') + leaky.write('more text\n') + leaky.end();
  assert.match(shown, /^withheld as a whole: a planted secret came through/);
  assert.doesNotMatch(shown, /some|more/);
  const open = { ...createPolicy(), environment: (all: object) => all };
  assert.throws(() => proveScrubber(open as never).environment({ PATH: '/bin' }), /planted secret/);
});

test('a part in which the canary stands is dropped before the seal, with a gap', () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-proven-'));
  try {
    const writer = startBundle({ dir, program: 'x', verdictKind: 'killed', writer: 'test' });
    writer.writePart('trigger.json', JSON.stringify({ id: writer.id }));
    writer.writePart('process.json', JSON.stringify({ argv: [Buffer.from(canary()).toString('base64')] }));
    const bundle = openBundle(sealProven(writer, createPolicy()));
    try {
      assert.deepEqual(
        bundle.manifest?.parts.map(({ name }) => name),
        ['trigger.json'],
      );
      assert.match(JSON.stringify(bundle.manifest?.gaps), /process\.json.*planted secret/);
    } finally {
      bundle.close();
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('a value that a later part withholds is withheld in an earlier one, which stays as complete as it was', () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-proven-'));
  try {
    const password = ['Sommer', 'regen-', '1987!'].join('');
    const policy = createPolicy({ learns: true });
    const writer = startBundle({ dir, program: 'x', verdictKind: 'killed', writer: 'test' });
    const source = `open('${password}');\n`;
    writer.writePart('error.json', JSON.stringify({ message: `no access with ${password}` }), {
      complete: false,
    });
    writer.writePart('sources/1.js', source);
    writer.writePart('process.json', JSON.stringify({ argv: policy.argv(['node', '--password', password]) }));
    const bundle = openBundle(sealProven(writer, policy));
    try {
      for (const { name } of bundle.manifest?.parts ?? [])
        assert.ok(!String(bundle.readPart(name)).includes(password), name);
      assert.equal(String(bundle.readPart('sources/1.js')).length, source.length);
      assert.equal(bundle.manifest?.parts.find(({ name }) => name === 'error.json')?.complete, false);
      assert.deepEqual(
        bundle.manifest?.redactions.map(({ rule, part }) => [part, rule]),
        [
          ['error.json', 'known-value'],
          ['sources/1.js', 'known-value'],
        ],
      );
    } finally {
      bundle.close();
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});
