/** No printed line is longer than the terminal, unless a word is: that one must stay in one piece. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitTo } from '../../src/cli/output/output.ts';
import { widthOf } from '../../src/report/text/fit.ts';

const row = '1. 168,492 {name, tags} objects hold 51 % of the heap (27 MiB): (Stack roots, conservative){5}';

test('a line that its renderer has not fitted is wrapped, with colours and wide letters', () => {
  for (const columns of [40, 60, 80]) {
    const text = `${row}\n\x1b[1m${row}\x1b[22m\n${'予約 '.repeat(60)}\n\nshort`;
    const lines = fitTo(columns, text).split('\n');
    for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}: ${line}`);
    assert.equal(lines.at(-1), 'short');
    assert.equal(lines.join(' ').replace(/\s+/g, ' '), text.replace(/\s+/g, ' '));
  }
  assert.equal(fitTo(200, row), row);
});

test('a link stays in one piece', () => {
  const link = `http://127.0.0.1:40001/?token=${'a'.repeat(64)}`;
  assert.equal(fitTo(80, link), link);
  assert.equal(fitTo(80, `open ${link} in a browser`), `open ${link} in a browser`);
});
