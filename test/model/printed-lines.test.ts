/** Which line of a log is quoted as the program's last message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidLines, tellingLine } from '../../src/model/process-events/printed-lines.ts';

const logs: [name: string, text: string, line: string][] = [
  ['nothing', '', ''],
  ['only brackets and our own lines', '  }\n]\nagentdump: exit: /x\n', ''],
  ['the last line, when none names an error', 'a word\n  bye now  \n', 'bye now'],
  [
    'the headline above its stack',
    'TypeError: x is not a function\n    at run (/a.js:1:2)\n    at /b.js:3:4\n\nNode.js v22.1.0\n',
    'TypeError: x is not a function',
  ],
  [
    'the error above the rest of an inspected object',
    "Error: connect ECONNREFUSED\n    at a.js:1 {\n  errno: -111,\n  code: 'ECONNREFUSED'\n}\n",
    'Error: connect ECONNREFUSED',
  ],
  ['the newest of several', 'error: first\nlogs follow\nsome [error] second\nmore\n', 'some [error] second'],
  ['a mark', '✖ 3 problems\nrun with --fix\n', '✖ 3 problems'],
  ['no path that looks like one', 'reading src/error/file.ts\ndone with it\n', 'done with it'],
  [
    'the sentence above numbered lines of source code',
    '●  process.exit called with "1"\n\n    1 | const a = 1;\n  > 2 | throw new Error("no");\n      |       ^\n  13 │ failed();\n',
    '●  process.exit called with "1"',
  ],
  [
    'a log that goes on',
    'npm error Missing script: "x"\nnpm error A complete log of this run\n',
    'npm error Missing script: "x"',
  ],
];

for (const [name, text, line] of logs)
  test(`the telling line: ${name}`, () => assert.equal(tellingLine(text), line));

test('what is no text says nothing, as it is or escaped', () => {
  assert.deepEqual(saidLines('one\n\x02\x0ftest:start"\x04data\n'), []);
  assert.deepEqual(saidLines('one\n\\x02\\x0ftest:start"\\x04data\n'), []);
  assert.deepEqual(saidLines('\x1b[31mred\x1b[39m\ttab\nagentdump: ours\n\n'), ['\x1b[31mred\x1b[39m\ttab']);
});
