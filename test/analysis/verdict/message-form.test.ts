/** Which messages two deaths of one fault may have, and which tell two faults apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normaliseMessage } from '../../../src/analysis/message-form.ts';

const forms: [string, string][] = [
  ["Expected ',' in JSON at position 12 (line 1 column 13)", 'not valid JSON'],
  ['rows.map is not a function', '<value>.map is not a function'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <value>'],
  ['run 7f3c9a52-1b7e-4c8d-9a10-0b8f6a1c2d3e gone', 'run <value> gone'],
  [
    "ENOENT: no such file or directory, open '/tmp/a/b.json'",
    'ENOENT: no such file or directory, open <value>',
  ],
  ['GET https://api.example.com/v1/x?y=1 failed', 'GET <value> failed'],
  ['key [redacted:github-token#12ab34cd] refused', 'key <value> refused'],
  ["Cannot find module 'left-pad'\nRequire stack:\n- /a", "Cannot find module 'left-pad'"],
  ['Invalid city "São Paulo"', 'Invalid city "<value>"'],
];
for (const [message, form] of forms)
  test(`the form of a message: ${form}`, () => assert.equal(normaliseMessage(message), form));

const same: [string, string][] = [
  [
    'Payment pi_3Nabc12345xyz declined for customer cus_9s6XKzkNRiz8i3',
    'Payment pi_1Qzzz99999abc declined for customer cus_OOOOzkNRiz8i31',
  ],
  [
    "Duplicate entry 'alice@example.com' for key 'users.email'",
    "Duplicate entry 'bob@b.org' for key 'users.email'",
  ],
  [
    'Rate limit reached: 3500 of 3500 tokens used, retry in 12s',
    'Rate limit reached: 90 of 100 tokens used, retry in 1m30s',
  ],
  ['Expected 3 items, got 5', 'Expected 12 items, got -1'],
  ['Invalid amount NaN', 'Invalid amount -5.00'],
  ['Session expired at 10:32:05 PM', 'Session expired at 1:02:00 AM'],
  ['Session expired at 11/28/2026, 10:32:05 PM', 'Session expired at 1/2/2027, 1:02:00 AM'],
  ['connect ETIMEDOUT 10.0.0.5:443', 'connect ETIMEDOUT 2001:db8::1:443'],
  ['Worker 3 died', 'Worker 12 died'],
  ['Unexpected end of JSON input', 'Unexpected token \'<\', "<html><bod"... is not valid JSON'],
  ['Unexpected token \'`\', "```json\n{}\n```" is not valid JSON', 'Unexpected end of JSON input'],
  ['page.items is not iterable', 'e.items is not iterable'],
  [
    'number 5 is not iterable (cannot read property Symbol(Symbol.iterator))',
    'undefined is not iterable (cannot read property Symbol(Symbol.iterator))',
  ],
  [
    'Class extends value undefined is not a constructor or null',
    'Class extends value #<Object> is not a constructor or null',
  ],
  [
    'Invalid regular expression: /(aa/: Unterminated group',
    'Invalid regular expression: /(a b/u: Unterminated group',
  ],
  [
    'The "path" argument must be of type string. Received undefined',
    'The "path" argument must be of type string. Received type number (17)',
  ],
  ['Unexpected token h in JSON at position 0', 'Unexpected token \'h\', "hello" is not valid JSON'],
  ["EACCES: permission denied, mkdir '/var/lib/app one/x'", "EACCES: permission denied, mkdir 'tmp'"],
  [
    "ENOENT: no such file or directory, rename 'a.txt' -> '/b/c.txt'",
    "ENOENT: no such file or directory, rename '/q/r s.txt' -> 'c.txt'",
  ],
  ['Heap used 1.5 GB of 2 GB', 'Heap used 900 MB of 1 GB'],
  ['Token aB3dE5fG7hJ9kL0m rejected', 'Token Zz9Yy8Xx7Ww6Vv5 rejected'],
  ['Chunk 3/17 is corrupt', 'Chunk 11/12 is corrupt'],
  ['Amount €1,234.56 exceeds limit', 'Amount €12 exceeds limit'],
  ['Validation failed: {"field":"age","got":-1}', 'Validation failed: {"field":"name","got":"x y"}'],
  ["unexpected state { id: 5, name: 'x' }", "unexpected state { id: 17, tags: [ 'a' ] }"],
  [
    'Tool call toolu_01A09q90qw90lq917835lq9 timed out after 30000ms',
    'Tool call toolu_99ZZ9q90qw90lq91783500 timed out after 1.5 seconds',
  ],
  ['Meeting on Saturday, November 28, 2026 overlaps', 'Meeting on Tue, 3 Dec 2024 overlaps'],
  ['Key user:4711:cart missing', 'Key user:99:cart missing'],
  ['No such host 192.168.1.7', 'No such host fe80::1ff:fe23:4567:890a'],
  [
    'lock held by 4f0c9a1d-1b7e-4c8d-9a10-0b8f6a1c2d3e since 2026-11-21T03:04:05Z',
    'lock held by 17 since 2026-11-22 03:04',
  ],
  ['User alice@example.com not found', 'User 4711 not found'],
  ['User bob.smith@corp.io not found', 'User usr_9f8a7b6c5d4e3f2a not found'],
  ['Order ORD-2024-00017-XK not found', 'Order ORD-1 not found'],
  ['Model call timed out after 2 min', 'Model call timed out after 900ms'],
  ['No rate for Sat Nov 28 2026 10:00:00 GMT+0000 (Coordinated Universal Time)', 'No rate for 28.11.2026'],
  ['commit deadbeef1234567 missing', 'commit 0123456789 missing'],
  ['object at 0x7ffdeadbeef', 'object at 17'],
];
for (const [one, other] of same)
  test(`one fault: ${one}, ${other}`, () => assert.equal(normaliseMessage(one), normaliseMessage(other)));

const different: [string, string][] = [
  [
    "Cannot read properties of undefined (reading 'name')",
    "Cannot read properties of undefined (reading 'email')",
  ],
  ["Cannot find module 'left-pad'", "Cannot find module 'right-pad'"],
  ["Cannot find package 'a-b' imported from /srv/x.js", "Cannot find package 'c' imported from /srv/x.js"],
  ['Missing environment variable "A_KEY"', 'Missing environment variable "B_KEY"'],
  ['x is not defined', 'y is not defined'],
  [
    "Class constructor Foo cannot be invoked without 'new'",
    "Class constructor Bar cannot be invoked without 'new'",
  ],
  ["Named export 'a' not found.", "Named export 'b' not found."],
  [
    "The requested module './a.js' does not provide an export named 'x'",
    "The requested module './a.js' does not provide an export named 'y'",
  ],
  [
    'The "path" argument must be of type string. Received undefined',
    'The "url" argument must be of type string. Received undefined',
  ],
  ["ENOENT: no such file or directory, open 'a'", "EACCES: permission denied, open 'a'"],
  ["ENOENT: no such file or directory, open 'a'", "ENOENT: no such file or directory, unlink 'a'"],
  ['user not found', 'order not found'],
  ["Can't load the user's cart", "Can't load the shop's cart"],
  ['Invalid url', 'Invalid email'],
  ["Unexpected identifier 'await'", "Unexpected identifier 'yield'"],
  ['relation "users" does not exist', 'relation "orders" does not exist'],
  ['column "a" of relation "users" does not exist', 'column "b" of relation "users" does not exist'],
  ['Unexpected end of JSON input', 'Unexpected end of input'],
  ['timeout of 1000ms exceeded', 'maximum of 1000 exceeded'],
];
for (const [one, other] of different)
  test(`two faults: ${one}, ${other}`, () => assert.notEqual(normaliseMessage(one), normaliseMessage(other)));

test('a hostile message of a million characters has its form at once', () => {
  for (const unit of [
    'a1_',
    '/a',
    '0x',
    '1,',
    '[redacted',
    'deadbeef',
    '"a ',
    '{ a: ',
    "E: '",
    ':0',
    'a@b.',
    '9 ms',
  ])
    assert.ok(normaliseMessage(unit.repeat(300_000)).length <= 200);
});
