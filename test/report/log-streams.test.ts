/** The ends of stdout and stderr: told once where both went to one file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, accountSchema } from '../../src/model/account.ts';
import { renderText } from '../../src/report/text.ts';

type Logs = NonNullable<NonNullable<Account['happenings']>['logs']>;
const render = (logs: Logs) =>
  renderText({ schema: accountSchema, gaps: [], happenings: { logs } } as unknown as Account);
const one = { stream: 'stdout', target: '/srv/out.txt', text: 'first\nlast\n' };

test('both streams in one file: its last lines once', () => {
  const text = render([one, { ...one, stream: 'stderr' }]);
  assert.match(text, /stdout and stderr went to \/srv\/out\.txt, its last 2 lines\n +first\n +last\n/);
  assert.equal(text.match(/last\n/g)?.length, 1);
});

test('two files, or two terminals with the same words, stay apart', () => {
  assert.match(
    render([one, { ...one, stream: 'stderr', target: '/srv/err.txt' }]),
    /stderr went to \/srv\/err\.txt/,
  );
  const text = render([
    { stream: 'stdout', text: 'same\n' },
    { stream: 'stderr', text: 'same\n' },
  ]);
  assert.equal(text.match(/same\n/g)?.length, 2);
});
