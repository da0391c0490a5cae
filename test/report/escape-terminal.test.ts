/** What a hostile bundle may attempt on the terminal or the CI log that shows it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defuseWorkflowCommands, escapeLine, escapeTerminal } from '../../src/report/escape-terminal.ts';
import '../support/run/fuzz-runs.ts';

const probes: [string, string, string][] = [
  ['clear screen', '\x1b[2J', '\\x1b[2J'],
  ['title', '\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
  ['C1 control sequence introducer', '\x9b31m', '\\x9b31m'],
  ['device control string', '\x90q\x9c', '\\x90q\\x9c'],
  ['hyperlink', '\x1b]8;;http://x\x1b\\a', '\\x1b]8;;http://x\\x1b\\a'],
  ['carriage return that hides a line', 'bad\rgood', 'bad\\rgood'],
  ['backspace', 'rm\b\bls', 'rm\\x08\\x08ls'],
  ['null and delete', '\0\x7f', '\\x00\\x7f'],
  ['right-to-left override', 'a\u202etxt.exe', 'a\\u202etxt.exe'],
  ['bidi isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
  ['zero width space', 'pass\u200bword', 'pass\\u200bword'],
  ['byte order mark', '\ufeffx', '\\ufeffx'],
  ['soft hyphen', 'a\u00adb', 'a\\xadb'],
  ['line separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['tag characters', '\u{e0041}', '\\u{e0041}'],
  ['lone surrogates', '\ud800x\udfff', '\\ud800x\\udfff'],
  ['filler letter', '\u3164', '\\u3164'],
];

for (const [name, hostile, shown] of probes)
  test(`written out: ${name}`, () => assert.equal(escapeTerminal(hostile), shown));

test('clean text of any script stays as it is', () => {
  const clean = 'Zürich\t日本語\n👩‍💻 ✔️ العربية नमस्ते';
  assert.equal(escapeTerminal(clean), clean);
});

test('a line stays one line', () => assert.equal(escapeLine('a\n\tb\r'), 'a\\n\\tb\\r'));

test('what is escaped holds nothing unsafe, and escaping it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = escapeTerminal(text);
      assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(once));
      assert.equal(escapeTerminal(once), once);
    }),
  );
});

const commands: [string, string][] = [
  ['::set-output name=a::b', '\\x3a:set-output name=a::b'],
  ['  ::error::x', '  \\x3a:error::x'],
  ['x\n\u00a0::add-mask::x', 'x\n\u00a0\\x3a:add-mask::x'],
  ['a ##[set-env name=x]y', 'a #\\x23[set-env name=x]y'],
  ['##vso[task.setvariable]x', '#\\x23vso[task.setvariable]x'],
  ['std::vector ## heading', 'std::vector ## heading'],
];
for (const [line, defused] of commands)
  test(`defused: ${JSON.stringify(line)}`, () => assert.equal(defuseWorkflowCommands(line), defused));

test('two million characters of each kind are one linear pass', () => {
  for (const unit of [' ', ':', '#', '\x1b', '\n', ' :'])
    assert.ok(
      defuseWorkflowCommands(escapeTerminal(unit.repeat(2_000_000 / unit.length))).length >= 2_000_000,
    );
});
