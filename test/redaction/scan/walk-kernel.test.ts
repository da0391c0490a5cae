/** The walk in WebAssembly and the one in TypeScript: the same findings in every text, and without WebAssembly as well. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import { redact } from '../../../src/redaction/index.ts';
import { NameBook } from '../../../src/redaction/names/name-book.ts';
import { Detector } from '../../../src/redaction/scan/detector.ts';
import { WalkKernel } from '../../../src/redaction/scan/kernel/walk-kernel.ts';
import { KnownValues } from '../../../src/redaction/values/known-values.ts';
import { hostilePieces, hostileText } from '../../support/hostile/hostile-texts.ts';
import { isWideRun } from '../../support/run/test-nodes.ts';
import { makeCorpus } from '../../support/secrets/secret-corpus.ts';
import { makeForms } from '../../support/secrets/secret-forms.ts';
import { preload } from '../../support/victims/run-victim.ts';

/** Two detectors with the same lists of names; the answers of one must not reach the other. */
function both(names: () => NameBook, context = true): (text: string, from?: number, stop?: number) => void {
  const make = (kernelFrom: number): Detector =>
    new Detector({ names: names(), known: new KnownValues(), patterns: [], context, kernelFrom });
  const [byKernel, plain] = [make(0), make(Number.POSITIVE_INFINITY)];
  const find = (detector: Detector, text: string, from: number, stop: number): unknown =>
    detector.withPage(text, (own, page) => {
      const { findings, stop: stood } = own.find(page, from, stop);
      return { stood, found: findings.map(({ start, end, rule, quote }) => [start, end, rule, quote]) };
    });
  return (text, from = 0, stop = text.length) =>
    assert.deepEqual(find(byKernel, text, from, stop), find(plain, text, from, stop), JSON.stringify(text));
}

const seed = Number(process.env['AGENTDUMP_WALK_SEED'] ?? 20261128);

test('a long text is walked over in WebAssembly', () => {
  assert.ok(WalkKernel.take(new NameBook()));
});

test('secrets and look-alikes, alone and in a long text', () => {
  const compare = both(() => new NameBook());
  const rounds = isWideRun ? 4 : 1;
  const texts = [...makeCorpus(seed, rounds), ...makeForms(seed)].map(({ text }) => text);
  for (const text of texts) compare(text);
  for (let at = 0; at < texts.length; at += 60) compare(texts.slice(at, at + 60).join('\n'));
});

test('lists of names, and texts of names alone', () => {
  const named = both(() => new NameBook(['build-token', 'session'], ['favourite', 'x']));
  const nameless = both(() => new NameBook(), false);
  for (const { text } of makeForms(seed)) {
    named(`${text}\nfavourite: tea, x=walnut, BUILD_TOKEN=blue-42-green`);
    nameless(text);
  }
});

test('one piece without end', () => {
  const compare = both(() => new NameBook());
  for (const piece of Object.values(hostilePieces)) compare(hostileText(piece, 4000));
});

test('a sign of which a harmless name is near, in a first and in a second text', () => {
  const compare = both(() => new NameBook());
  for (let time = 0; time < 2; time++) compare('-A]:587 bob:Sommer19aQ');
  const long = 'x = 1\n'.repeat(3000);
  for (const name of ['-A', 'mail.example.com', 'data', 'mail-key'])
    assert.ok(!redact(`${long}[${name}]:587 bob:Sommer19aQ`).includes('Sommer19aQ'), name);
});

test('pieces in any order, searched from and to any position', () => {
  const compare = both(() => new NameBook());
  const piece = fc.oneof(
    fc.constantFrom(
      ...['password', 'token', 'apiKey', 'the', 'in', 'i', 'pw', 'pin', 'str', 'data', 'thin', 'bot12345678'],
      ...['-----BEGIN ', '-uadmin', 'sk-ant-', 'ghp_', 'AKIA', '-p', '--key', 'VALUES', 'Bearer', 'k-1_b--'],
      ...['type', 'value', 'name', 'key', 'code', 'root', 'true', 'params', 'values', 'headers', 'entry'],
      ...['identified by ', 'net use ', 'config set ', 'pass show ', 'log in as ', 'recovery codes', '||='],
      ...[
        '"sensitive": true',
        '"id": "password"',
        'camelCase',
        'hasło do ',
        'user:S3cret77@db',
        ']:587 bob:',
      ],
      ...[
        'sha512-',
        'pass ',
        'USER kim ',
        ' === ',
        ' != ',
        '---',
        'security code ',
        '482913',
        'acme_live_',
        'tool.id,',
      ],
      ...['12345678', 'hunter2', 'f81kQz0WpXvB3nMrT7yU', 'a'.repeat(15), 'b'.repeat(16), 'c'.repeat(41)],
      ...[
        ':',
        '=',
        ',',
        '>',
        ' ',
        '  ',
        '\n',
        '\r\n',
        '?\n',
        '\t',
        '"',
        "'",
        '`',
        '(',
        ')',
        '{',
        '}',
        '<',
        '|',
        ';',
      ],
      ...[
        '\\n',
        '\\"',
        '\\"da',
        '\\\\',
        '%3D',
        '&amp;',
        '$',
        '~',
        '@',
        '//',
        '": "',
        '", "',
        ': <',
        '<Buffer ',
      ],
      ...['\u2502', '\uff1a', '\u662f', '\ufffe', '\u8000', 'é', 'ſ', 'пароль', '\0', '\x1b[31m', '💥'],
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.string({ maxLength: 12 }),
  );
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), share, share, (pieces, first, second) => {
      const text = pieces.join('');
      compare(text);
      const [from, stop] = [first, second].map((at) => Math.floor(at * text.length)).sort((a, b) => a - b);
      compare(text, from, stop);
    }),
    { numRuns: isWideRun ? 20_000 : 2000, seed },
  );
});

test('where there is no WebAssembly, and where no code may be made from texts', () => {
  const built = new URL('redaction/index.js', pathToFileURL(preload)).href;
  const program = (before: string): string => `
    ${before}
    const { redact } = await import(${JSON.stringify(built)});
    console.log(redact('walk '.repeat(4000) + 'password: hunter2-in-the-clear').slice(-40));`;
  for (const [flag, text] of [
    ['--jitless', program('')],
    ['--disallow-code-generation-from-strings', program('')],
    ['--no-warnings', program('delete globalThis.WebAssembly;')],
    ['--no-warnings', program('WebAssembly.Instance = function () {};')],
  ] as const) {
    const words = [flag, '--input-type=module', '-e', text];
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.match(stdout, /password: \[redacted:password#[0-9a-f]{8}\]/, stderr);
  }
});
