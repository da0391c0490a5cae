/** The small pieces of the text report: quantities, wrapping, values, the caret under truncated lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { culpritFrame } from '../../src/model/frame-text.ts';
import {
  clip,
  firstLine,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
} from '../../src/model/quantities.ts';
import type { Frame } from '../../src/model/thread.ts';
import { plainPalette } from '../../src/report/palette.ts';
import { fitLines, foldLines, widthOf } from '../../src/report/text/fit.ts';
import { keyValues, section, wrap } from '../../src/report/text/layout.ts';
import { findRuns } from '../../src/report/text/repeats.ts';
import { renderCodeFrame, renderFrames } from '../../src/report/text/stack.ts';
import { renderTable } from '../../src/report/text/table.ts';
import { renderValue } from '../../src/report/text/value.ts';
import '../support/run/fuzz-runs.ts';

const page = { palette: plainPalette, columns: 60 };

const quantities: [string, string][] = [
  [formatBytes(0), '0 bytes'],
  [formatBytes(1), '1 byte'],
  [formatBytes(1023), '1023 bytes'],
  [formatBytes(1024), '1 KiB'],
  [formatBytes(1536), '1.5 KiB'],
  [formatBytes(1024 ** 3 - 1), '1 GiB'],
  [formatBytes(-2048), '-2 KiB'],
  [formatDuration(0), '0 ms'],
  [formatDuration(999.6), '1 s'],
  [formatDuration(59_949), '59.9 s'],
  [formatDuration(59_960), '1 min'],
  [formatDuration(3_600_000 + 120_000), '1 h 2 min'],
  [formatDuration(4 * 86_400_000 + 6 * 3_600_000), '4 d 6 h'],
  [formatDuration(-5), '-5 ms'],
  [formatNumber(1234567.89), '1,234,567.9'],
  [formatNumber(999), '999'],
  [formatCount(1, 'process', 'processes'), '1 process'],
  [formatCount(1024, 'timer'), '1,024 timers'],
  [clip('abcdef', 4), 'abc…'],
  [clip('ab😀', 4), 'ab😀'],
  [clip('a😀bc', 3), 'a…'],
  [firstLine('\n  x y \nz'), 'x y'],
  [firstLine(''), ''],
];
for (const [got, wanted] of quantities) test(`quantity ${wanted}`, () => assert.equal(got, wanted));

test('sentences wrap at words and hang under their mark', () => {
  const lines = wrap('one two three four five six seven eight nine ten eleven', 40, '- ');
  assert.deepEqual(lines, ['- one two three four five six seven', '  eight nine ten eleven']);
  assert.deepEqual(wrap('', 40), ['']);
});

test('a table of any length, with wide characters too', () => {
  const rows = Array.from({ length: 150_000 }, () => ['é']);
  assert.equal(renderTable(page, ['x'], rows).length, 150_001);
});

test('empty sections are not shown', () => {
  assert.deepEqual(section(page, 'X', []), []);
  assert.deepEqual(
    keyValues(page, [
      ['a', undefined],
      ['bb', '1'],
    ]),
    ['bb  1'],
  );
});

const at = (line: number, column: number, source: Frame['source'] & object): Frame => ({
  file: '/a/b.js',
  line,
  column,
  inApp: true,
  trust: 'stack-text',
  source,
});

test('the caret stands under the column, also in a line that was cut', () => {
  const long = `${'x'.repeat(200)}HERE${'y'.repeat(200)}`;
  for (const source of [
    [{ line: 1, text: long }],
    [{ line: 1, text: long.slice(150), startColumn: 151, lengthChars: long.length }],
  ]) {
    const [, code = '', caret = ''] = renderCodeFrame(at(1, 201, source), page);
    assert.equal(code.indexOf('H'), caret.indexOf('^'), `${code}\n${caret}`);
    assert.ok(code.length <= page.columns);
  }
});

test('foreign frames in a row are folded, own ones never', () => {
  const foreign = (file: string): Frame => ({ function: 'f', file, inApp: false, trust: 'stack-text' });
  const lines = renderFrames(
    [
      at(1, 1, []),
      foreign('/a/node_modules/@x/y/i.js'),
      foreign('node:net'),
      foreign('node:net'),
      at(2, 1, []),
    ],
    page,
  );
  assert.deepEqual(lines, [
    '● (anonymous)  /a/b.js:1:1',
    '  … 3 frames of @x/y, Node',
    '● (anonymous)  /a/b.js:2:1',
  ]);
});

test('where no frame is the program’s own, packages’ frames stay, and the topmost is the culprit', () => {
  const foreign = (file: string): Frame => ({
    function: 'f',
    file,
    line: 1,
    inApp: false,
    trust: 'stack-text',
  });
  const frames = ['node:path', '/a/node_modules/y/i.js', 'node:m', 'node:m2', 'node:m3'].map(foreign);
  assert.deepEqual(renderFrames(frames, page), [
    '  f  node:path:1',
    '  f  /a/node_modules/y/i.js:1',
    '  … 3 frames of Node',
  ]);
  assert.equal(culpritFrame(frames), frames[1]);
  assert.equal(culpritFrame([...frames, at(7, 1, [])])?.line, 7);
});

test('turns of a recursion are told once', () => {
  const turn = (line: number, times: number) => Array.from({ length: times }, () => at(line, 1, []));
  assert.deepEqual(renderFrames([at(9, 1, []), ...turn(1, 2), at(8, 1, [])], page).length, 4);
  assert.deepEqual(renderFrames([at(9, 1, []), ...turn(1, 8), at(8, 1, [])], page).slice(1, 3), [
    '● (anonymous)  /a/b.js:1:1',
    '  ↻ 7 more times',
  ]);
  const mutual = Array.from({ length: 10 }, (_, i) => at((i % 2) + 1, 1, []));
  assert.deepEqual(renderFrames(mutual, page), [
    '● (anonymous)  /a/b.js:1:1',
    '● (anonymous)  /a/b.js:2:1',
    '  ↻ these 2 frames 4 more times',
  ]);
});

test('runs cover the list', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 }), (keys) => {
      const back = findRuns(keys).flatMap(({ start, length, times }) =>
        Array.from({ length: times }, () => keys.slice(start, start + length)).flat(),
      );
      assert.deepEqual(back, keys);
    }),
  );
});

test('values are cut by depth, count and length', () => {
  let deep: unknown = 1;
  for (let i = 0; i < 50; i++) deep = { deep };
  assert.ok(renderValue(deep, page).length < 12);
  assert.match(
    renderValue(
      Array.from({ length: 1000 }, (_, i) => ({ i })),
      page,
    ).at(-1) ?? '',
    /976 more/,
  );
  assert.ok(renderValue('x'.repeat(100_000), page).join('').length < 500);
  assert.deepEqual(renderValue({ a: [1, 2], b: {}, c: null }, page), ['a:', '  1, 2', 'b: {}', 'c: null']);
});

test('tables align and keep each row on a line', () => {
  assert.deepEqual(
    renderTable(
      page,
      ['name', 'n'],
      [
        ['a\nb', '1'],
        ['longer', '22'],
      ],
    ),
    ['name    n', 'a\\nb    1', 'longer  22'],
  );
  assert.deepEqual(renderTable(page, ['x'], []), []);
});

test('no line is longer than the terminal, whatever is in it', () => {
  const red = (text: string) => `\x1b[31m${text}\x1b[39m`;
  const lines = [
    'short',
    `  ${'word '.repeat(60)}`,
    `    ${'x'.repeat(300)}`,
    `  ${red('word '.repeat(40))} ${red('y'.repeat(150))}`,
    `  ${'漢字'.repeat(80)} ${'😀'.repeat(40)}`,
    `${' '.repeat(90)}deep`,
  ];
  for (const columns of [20, 60, 80, 200]) {
    const fitted = fitLines(lines, columns);
    assert.deepEqual(
      fitted.filter((line) => widthOf(line) > columns),
      [],
    );
    const bare = (text: string[]) => text.join('').replace(/\s/g, '');
    assert.equal(bare(fitted), bare(lines), 'nothing is lost');
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 20, max: 120 }), (text, columns) =>
      fitLines([text], columns).every((line) => widthOf(line) <= columns),
    ),
  );
});

test('sources of classes and long objects are folded', () => {
  const source = `class Client extends Base {\n${'  method() {}\n'.repeat(300)}}`;
  assert.deepEqual(renderValue({ source }, page), [
    'source: class Client extends Base { … } (302 lines of source)',
  ]);
  assert.equal(foldLines(Array(100).fill('x'), 10).length, 10);
  assert.match(foldLines(Array(100).fill('x'), 10).at(-1) ?? '', /91 more lines/);
});
