/** JSON stays valid where a replaced value stands at the end of a string, and what follows the string is not replaced. */
import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../../src/redaction/index.ts';

const texts = [
  'one-time code: 259729',
  'Your OTP: 487782, valid for 5 minutes',
  'sim pin: 912142 puk: 78127561',
  'Key         Value\n---         -----\npassword    m8q2759lc\n',
  'Key         Value\n---         -----\napi_key     6wpv6mimr4jaj1l9gmvawanj2d6gptsf\nuser        bob\n',
  'моя почта anna@x.ru, пароль RewiQzfrSdwlYk1H',
  '密码是 Delta3172!f2gm',
];

for (const text of texts)
  test(JSON.stringify(text), () => {
    const secret =
      /259729|487782|78127561|m8q2759lc|6wpv6mimr4jaj1l9gmvawanj2d6gptsf|RewiQzfrSdwlYk1H|Delta3172/;
    for (const around of [
      { m: text, n: 1 },
      [text],
      { a: JSON.stringify({ b: text }) },
      { a: JSON.stringify([JSON.stringify({ b: text })]), n: 1 },
    ]) {
      const output = redact(JSON.stringify(around));
      equal(secret.test(output), false, output);
      const read = JSON.parse(output) as { n?: number };
      equal(read.n, (around as { n?: number }).n);
    }
  });

test('a number gets quotes, a number within a string none', () => {
  const bare = redact('{"pin":912142,"n":1}');
  equal(/^\{"pin":"\[redacted:pin#[\da-f]+\]","n":1\}$/.test(bare), true, bare);
});
