/** Every rule finds what it describes, keeps its public prefix, and does not touch placeholders and short words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../src/redaction/index.ts';
import { judgeName } from '../../src/redaction/names/key-names.ts';
import { NameBook } from '../../src/redaction/names/name-book.ts';
import { PageMaker } from '../../src/redaction/scan/page.ts';
import { allShapes } from '../../src/redaction/shapes/index.ts';
import { hostilePieces, hostileText } from '../support/hostile/hostile-texts.ts';
import { SeededRandom } from '../support/synth/seeded-random.ts';
import { textFromPattern } from '../support/synth/text-from-pattern.ts';

const shapes = allShapes();
const random = new SeededRandom(7);

test('there are at least 120 kinds, each named once, every start of two characters or more', () => {
  assert.ok(shapes.length >= 120, String(shapes.length));
  assert.equal(new Set(shapes.map((shape) => shape.rule)).size, shapes.length);
  for (const { rule, starts } of shapes) {
    assert.match(rule, /^[a-z0-9-]{2,40}$/);
    for (const start of starts) assert.ok(start.length >= 2, `${rule}: ${start}`);
  }
});

test('every repetition of every rule is bounded', () => {
  for (const { rule, body } of shapes)
    assert.doesNotMatch(body.source.replace(/\[[^\]]*\]|\\./g, 'x'), /[*+]|,\}/, rule);
});

for (const shape of shapes)
  test(`finds ${shape.rule}`, () => {
    for (const start of shape.starts) {
      const body = textFromPattern(shape.body, random);
      for (const [before, after] of [
        ['see ', ' end'],
        ['{"x":"', '"}'],
        ['(', ')'],
        ['a=1\\n', '\\n'],
      ]) {
        const out = redact(`${before}${start}${body}${after}`);
        assert.ok(!out.includes(body.slice(-12)), `${start}${body} → ${out}`);
        assert.match(out, /\[redacted:[a-z0-9-]+#[0-9a-f]{8}\]/);
        assert.ok(out.startsWith(before!) && out.endsWith(after!), out);
      }
      for (const standIn of [
        '',
        'x',
        '***********',
        'xxxxxxxxxxxxxxxxxxxxxxxx',
        '<your-key>',
        'your-key-here',
      ])
        assert.doesNotMatch(redact(`see ${start}${standIn} end`), /redacted/, `${start}${standIn}`);
    }
  });

test('every name that judgeName can know passes the table of three letters', () => {
  const names =
    `password passwd pwd pw passcode motdepasse contrasena senha secret token jwt pat bearer key auth oauth creds
    credential csrf xsrf sas cookie session signature sig code pin otp totp mfaCode cvv cvc mnemonic seed recoveryPhrase
    passphrase name header variable field param property value val string sid dsn requirepass masterauth userpwd
    identifiedBy apikey PHPSESSID connect.sid authorization X-Amz-Signature`.split(/\s+/);
  const book = new NameBook();
  const pages = new PageMaker();
  for (const name of names) {
    const expected = judgeName(name);
    const found = book.lookUp(pages.make(name), 0, name.length);
    if (expected.strength > 0 || expected.form) assert.deepEqual(found, expected, name);
  }
});

test('hostile texts come out, and twice the text is twice the work', () => {
  for (const [name, piece] of Object.entries(hostilePieces))
    assert.equal(typeof redact(hostileText(piece, 100_000)), 'string', name);
});
