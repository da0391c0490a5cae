/** Hosts that map stacks themselves, wrong maps, odd frames, hostile input. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { build, transformSync } from 'esbuild';
import fc from 'fast-check';
import { reconstructStack, type StackSources } from '../../../src/analysis/stacks/reconstruct.ts';
import type { LoadedScript, RawFrame } from '../../../src/bundle/layout/bundle.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { synthMap } from '../../support/synth/synth-source-map.ts';
import { capture, sourcesOf } from '../../support/victims/captured.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-stacks-'));
after(() => rmSync(folder, { recursive: true, force: true }));
function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const tsx = createRequire(import.meta.url).resolve('tsx');
const typed = `interface Order { readonly id: number }

/** Lines that are gone once compiled. */
type Unused = Record<string, Order>;

export class Shop {
  private readonly orders: Unused = {};

  ship(order: Order): void {
    throw new Error('no stock for ' + order.id + Object.keys(this.orders).length);
  }
}

function main(): void {
  new Shop().ship({ id: 7 });
}
main();
`;
const shipLine = 10;
const mainLine = 15;

const places = (frames: { function?: string; file?: string; line?: number }[]) =>
  frames.map(({ function: name, file, line }) => `${name} ${file}:${line}`);

/** A bundle with one script, in memory. */
function bundleOf(script: Partial<LoadedScript>, text?: string, map?: string | Uint8Array): StackSources {
  const parts = new Map<string, Uint8Array>();
  if (text !== undefined) parts.set('sources/0.js', Buffer.from(text));
  if (map !== undefined) parts.set('maps/0.map', Buffer.from(map));
  const loaded: LoadedScript = {
    scriptId: '7',
    url: 'file:///app/dist/shop.js',
    hash: '',
    isModule: true,
    sourceMapUrl: 'shop.js.map',
    ...(text === undefined ? {} : { sourcePart: 'sources/0.js' }),
    ...(map === undefined ? {} : { mapPart: 'maps/0.map' }),
    ...script,
  };
  return { scripts: [loaded], readPart: (name) => parts.get(name), appRoot: '/app' };
}

const compiled = transformSync(typed, {
  loader: 'ts',
  sourcemap: 'external',
  sourcefile: '../src/shop.ts',
  format: 'esm',
});
const throwAt = positionOf(compiled.code, 'new Error');

function positionOf(text: string, piece: string): { line: number; column: number } {
  const offset = text.indexOf(piece);
  assert.ok(offset >= 0, `${piece} is in the text`);
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
const textAt = ({ line, column }: { line: number; column: number }, file = 'file:///app/dist/shop.js') =>
  `Error: x\n    at Shop.ship (${file}:${line}:${column})`;
const rawAt = ({ line, column }: { line: number; column: number }): RawFrame => ({
  functionName: 'ship',
  scriptId: '7',
  url: 'file:///app/dist/shop.js',
  line,
  column,
});

test('a script with its map: position, code, generated position, trust', async () => {
  const { frames, gaps } = await reconstructStack({
    ...bundleOf({}, compiled.code, compiled.map),
    stackText: textAt(throwAt),
    frames: [rawAt(throwAt)],
  });
  assert.deepEqual(gaps, []);
  assert.deepEqual(frames, [
    {
      function: 'Shop.ship',
      file: '/app/src/shop.ts',
      line: shipLine,
      column: 11,
      generated: { file: '/app/dist/shop.js', ...throwAt },
      inApp: true,
      trust: 'inspector',
      source: typed
        .split('\n')
        .slice(shipLine - 3, shipLine + 2)
        .map((text, n) => ({ line: shipLine - 2 + n, text })),
    },
  ]);
});

test('tsx maps by itself: with and without raw positions, nothing is mapped twice', async () => {
  const file = write('typed.ts', typed);
  const flags = ['--import', tsx];
  const printed = capture(file, { flags });
  const raw = capture(file, { flags, raw: true });
  const [stackText, message] = [printed.errors[0]?.stack ?? '', printed.errors[0]?.message ?? ''];
  const wanted = [`Shop.ship ${file}:${shipLine}`, `main ${file}:${mainLine}`];
  const alone = await reconstructStack({ ...sourcesOf(printed, folder), stackText, message });
  assert.deepEqual(places(alone.frames).slice(0, 2), wanted);
  const both = await reconstructStack({
    ...sourcesOf(raw, folder),
    stackText,
    message,
    frames: raw.frames ?? [],
  });
  assert.deepEqual(places(both.frames).slice(0, 2), wanted);
  assert.notEqual(both.frames[0]?.generated?.column, both.frames[0]?.column);
  assert.deepEqual(both.gaps, []);
});

test('a debugger’s stack under a loader that compiles in memory is where the code ran, and is mapped', async () => {
  // The script has the path of its source, as under vite-node: the loader has already mapped what an error prints there.
  const inMemory = transformSync(typed, { loader: 'ts', sourcemap: 'external', sourcefile: 'shop.ts' });
  const at = positionOf(inMemory.code, 'new Error');
  assert.notEqual(at.line, shipLine);
  const url = 'file:///app/src/shop.ts';
  const stack = {
    ...bundleOf({ url, sourceMapUrl: 'data:' }, inMemory.code, inMemory.map),
    stackText: textAt(at, url),
  };
  const ofDebugger = await reconstructStack({ ...stack, isOfDebugger: true });
  assert.deepEqual(places(ofDebugger.frames), [`Shop.ship /app/src/shop.ts:${shipLine}`]);
  const printed = await reconstructStack(stack);
  assert.deepEqual(places(printed.frames), [`Shop.ship /app/src/shop.ts:${at.line}`]);
});

test('a loader that compiles to one line in memory, and a host that does not map: what the source lacks is mapped', async () => {
  const minified = transformSync(typed, {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: 'shop.ts',
    minifyWhitespace: true,
  });
  const url = 'file:///app/src/shop.ts';
  const thrown = positionOf(minified.code, 'new Error');
  const called = positionOf(minified.code, 'new Shop');
  const sources = bundleOf({ url, sourceMapUrl: 'data:' }, minified.code, minified.map);
  // The call stands in a column that line 1 of the source has too: the other frame tells.
  const stackText = [
    'Error: x',
    `    at main (${url}:1:${Math.min(called.column, 20)})`,
    `    at Shop.ship (${url}:1:${thrown.column})`,
  ].join('\n');
  const { frames } = await reconstructStack({ ...sources, stackText });
  assert.deepEqual(frames.map(({ line, generated }) => [line, generated?.line]).at(-1), [shipLine, 1]);
  assert.notEqual(frames[0]?.generated, undefined);
  // And the other way round: the text that ran has one line only.
  const mapped = await reconstructStack({
    ...sources,
    stackText: `Error: x\n    at Shop.ship (${url}:${shipLine}:11)`,
  });
  assert.deepEqual(
    mapped.frames.map(({ line, generated }) => [line, generated]),
    [[shipLine, undefined]],
  );
});

test('--enable-source-maps: the printed positions are the sources, and V8 still knows the generated ones', async () => {
  const source = write('mapped/src/shop.ts', typed);
  const out = transformSync(typed, {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: '../src/shop.ts',
    format: 'esm',
  });
  const file = write('mapped/dist/shop.mjs', `${out.code}//# sourceMappingURL=shop.mjs.map\n`);
  write('mapped/dist/shop.mjs.map', out.map);
  const printed = capture(file, { flags: ['--enable-source-maps'] });
  const raw = capture(file, { raw: true });
  const stackText = printed.errors[0]?.stack ?? '';
  assert.ok(stackText.includes('shop.ts:10'), 'the host has mapped');
  for (const frames of [undefined, raw.frames]) {
    const result = await reconstructStack({
      ...sourcesOf(printed),
      stackText,
      ...(frames ? { frames } : {}),
    });
    assert.deepEqual(places(result.frames).slice(0, 2), [
      `Shop.ship ${source}:${shipLine}`,
      `main ${source}:${mainLine}`,
    ]);
    assert.equal(
      result.frames[0]?.source?.find(({ line }) => line === shipLine)?.text,
      typed.split('\n')[shipLine - 1],
    );
    assert.equal(result.frames[0]?.generated?.file, frames ? file : undefined);
  }
});

test('the arrow form of older hosts: mapped by us, or as the host says', async () => {
  const stackText = `${textAt(throwAt, '/app/dist/shop.js')}\n        -> /app/src/shop.ts:${shipLine}:11`;
  const withMap = await reconstructStack({ ...bundleOf({}, compiled.code, compiled.map), stackText });
  const without = await reconstructStack({ ...bundleOf({}, compiled.code), stackText });
  for (const { frames } of [withMap, without]) {
    assert.deepEqual(places(frames), [`Shop.ship /app/src/shop.ts:${shipLine}`]);
    assert.deepEqual(frames[0]?.generated, { file: '/app/dist/shop.js', ...throwAt });
  }
  assert.equal(without.frames[0]?.source, undefined);
});

test('minified code: names and lines come back, long lines are cut around the column', async () => {
  const result = await build({
    stdin: {
      contents: `${'/* a */ globalThis.pad = "x";\n'.repeat(40)}${typed}`,
      loader: 'ts',
      sourcefile: 'src/shop.ts',
    },
    bundle: true,
    minify: true,
    write: false,
    sourcemap: 'external',
    outfile: '/app/dist/shop.js',
    format: 'esm',
  });
  const code = result.outputFiles.find((f) => f.path.endsWith('.js'))?.text ?? '';
  const map = result.outputFiles.find((f) => f.path.endsWith('.map'))?.text ?? '';
  const at = positionOf(code, 'new Error');
  const short = /\b(\w)=class/.exec(code)?.[1] ?? '';
  const stackText = `Error: x\n    at ${short}.ship (/app/dist/shop.js:${at.line}:${at.column})`;
  const mapped = await reconstructStack({ ...bundleOf({}, code, map), stackText });
  assert.equal(mapped.frames[0]?.function, 'Shop.ship');
  assert.equal(mapped.frames[0]?.line, shipLine + 40);
  const bare = await reconstructStack({ ...bundleOf({ mapGap: 'too big' }, code), stackText });
  const line = bare.frames[0]?.source?.find((l) => l.line === at.line);
  assert.equal(line?.lengthChars, code.split('\n')[at.line - 1]?.length);
  assert.ok((line?.text.length ?? 0) <= 160);
  assert.equal(line?.text.slice(at.column - (line.startColumn ?? 1)).startsWith('new Error'), true);
  assert.deepEqual(
    bare.gaps.map(({ reason, lookedFor }) => [reason, lookedFor]),
    [['/app/dist/shop.js: too big', 'shop.js.map']],
  );
});

test('names that begin like keywords are whole names', async () => {
  const source = 'export function classify(a: string): void {\n  throw new Error(a);\n}\nclassify("x");\n';
  const { code, map } = transformSync(source, {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: '../src/shop.ts',
    format: 'cjs',
    minifyIdentifiers: true,
  });
  const short = /function (\w+)/.exec(code)?.[1] ?? '';
  const at = positionOf(code, 'new Error');
  for (const changed of [map, JSON.stringify({ ...JSON.parse(map), names: ['', '', ''] })]) {
    const stackText = `Error: x\n    at ${short} (/app/dist/shop.js:${at.line}:${at.column})`;
    const { frames } = await reconstructStack({ ...bundleOf({}, code, changed), stackText });
    assert.equal(frames[0]?.function, 'classify');
  }
});

test('a placeholder in the text, which moves columns and even lines, takes nobody’s map away', async () => {
  const secret = '-----BEGIN KEY-----\\n'.repeat(4);
  const source = `${typed.replace('no stock for ', secret)}// end`;
  const { code, map } = transformSync(source, {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: '../src/shop.ts',
    format: 'esm',
    minify: true,
  });
  const at = positionOf(code, 'Object.keys');
  // The minifier turns it into a template literal with real line breaks.
  const clean = code.replace(/(?:-----BEGIN KEY-----\n)+/, '[redacted:key#0123abcd]');
  assert.ok(clean.split('\n').length < code.split('\n').length);
  const cleanMap = JSON.parse(map);
  cleanMap.sourcesContent = [source.replace(secret, '[redacted:key#0123abcd]')];
  const { frames, gaps } = await reconstructStack({
    ...bundleOf({}, clean, JSON.stringify(cleanMap)),
    stackText: textAt(at),
  });
  assert.deepEqual(gaps, []);
  assert.deepEqual(places(frames), [`Shop.ship /app/src/shop.ts:${shipLine}`]);
});

/** Each is a bundle whose map must not be trusted: the frame keeps its generated position, and one gap says why. */
const otherBuild = transformSync(typed.replace('private readonly', 'static count = 0;\n  private readonly'), {
  loader: 'ts',
  sourcemap: 'external',
  sourcefile: '../src/shop.ts',
  minifyWhitespace: false,
});
const mapWith = (change: Record<string, unknown>) =>
  JSON.stringify({ ...JSON.parse(compiled.map), ...change });
const wrongMaps: Record<string, [StackSources, RegExp]> = {
  'is missing': [bundleOf({}, compiled.code), /holds no source map/],
  'is named and not in the bundle': [bundleOf({ mapPart: 'maps/9.map' }, compiled.code), /not in the bundle/],
  'is cut': [bundleOf({}, compiled.code, compiled.map.slice(0, -20)), /can't be read/],
  'has a placeholder in its mappings': [
    bundleOf({}, compiled.code, mapWith({ mappings: 'AAAA,[redacted]' })),
    /can't be read/,
  ],
  'is of another build': [bundleOf({}, compiled.code, otherBuild.map), /words/],
  'describes more lines': [
    bundleOf({}, compiled.code, mapWith({ mappings: `${JSON.parse(compiled.map).mappings};;;;;;;;;AAAA` })),
    /describes \d+ lines/,
  ],
  'belongs to a longer text': [bundleOf({}, compiled.code.slice(0, 60), compiled.map), /describes|outside/],
  'leads beyond the end of its source': [
    bundleOf({}, compiled.code, mapWith({ sourcesContent: ['one line'] })),
    /no such place|other words/,
  ],
  'has another debug id': [
    bundleOf(
      {},
      `${compiled.code}//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n`,
      mapWith({ debugId: '00000000-023f-4cf1-a267-535f4e37bb17' }),
    ),
    /debug id/,
  ],
};
for (const [what, [sources, reason]] of Object.entries(wrongMaps))
  test(`a map that ${what} is a gap, never a wrong line`, async () => {
    const stackText = `${textAt(throwAt)}\n    at main (file:///app/dist/shop.js:9:3)`;
    const { frames, gaps } = await reconstructStack({ ...sources, stackText });
    assert.equal(frames[0]?.file, '/app/dist/shop.js');
    assert.equal(frames[0]?.line, throwAt.line);
    assert.equal(frames[0]?.generated, undefined);
    assert.deepEqual([gaps.length, reason.test(gaps[0]?.reason ?? '')], [1, true], JSON.stringify(gaps));
  });

test('a frame that shows that the map is wrong takes back what was read from it before', async () => {
  const { frames } = await reconstructStack({
    ...bundleOf(
      {},
      undefined,
      mapWith({
        sourcesContent: [
          typed
            .split('\n')
            .slice(0, mainLine - 1)
            .join('\n'),
        ],
      }),
    ),
    frames: [rawAt(throwAt), rawAt(positionOf(compiled.code, 'new Shop'))],
  });
  assert.deepEqual([frames[0]?.file, frames[1]?.file], ['/app/dist/shop.js', '/app/dist/shop.js']);
});

test('a place far behind the last mapping of its line stays where it is, and the map is still believed elsewhere', async () => {
  const text = `a();${'0,'.repeat(2000)}b();\n`;
  const map = synthMap([{ line: 0, column: 0, source: 0, sourceLine: 0, sourceColumn: 0 }], {
    sourcesContent: ['a();'],
  });
  const { frames, gaps } = await reconstructStack({
    ...bundleOf({}, text, JSON.stringify(map)),
    frames: [rawAt({ line: 1, column: 4005 }), rawAt({ line: 1, column: 1 })],
  });
  assert.deepEqual(
    frames.map(({ file, inApp }) => [file, inApp]),
    [
      ['/app/dist/shop.js', true],
      ['/app/dist/src/0.ts', true],
    ],
  );
  assert.match(gaps[0]?.reason ?? '', /says nothing of some places/);
});

test('a package that ships no map is nobody’s gap', async () => {
  const { gaps, frames } = await reconstructStack({
    ...bundleOf({ url: 'file:///app/node_modules/p/a.js' }, 'throw 1'),
    stackText: 'Error: x\n    at f (/app/node_modules/p/a.js:1:1)',
  });
  assert.deepEqual([gaps, frames[0]?.inApp], [[], false]);
});

test('the text of a source that the map leaves out is taken from the disk’s copy, unless that was changed', async () => {
  const bundle = bundleOf(
    { originalParts: { '../src/shop.ts': 'originals/0' } },
    compiled.code,
    mapWith({ sourcesContent: null }),
  );
  const read = (text: string) => (name: string) =>
    name === 'originals/0' ? Buffer.from(text) : bundle.readPart(name);
  const same = await reconstructStack({ ...bundle, readPart: read(typed), stackText: textAt(throwAt) });
  assert.ok(same.frames[0]?.source?.[2]?.text.includes('throw new Error'));
  const changed = typed.split('\n').toReversed().join('\n');
  const other = await reconstructStack({ ...bundle, readPart: read(changed), stackText: textAt(throwAt) });
  assert.deepEqual([other.frames[0]?.line, other.frames[0]?.source, other.gaps], [shipLine, undefined, []]);
});

test('an inline map inside of the text is found without a part of its own', async () => {
  const inline = transformSync(typed, {
    loader: 'ts',
    sourcemap: 'inline',
    sourcefile: '../src/shop.ts',
    format: 'esm',
  });
  const { frames } = await reconstructStack({
    ...bundleOf({ sourceMapUrl: 'data:' }, inline.code),
    stackText: textAt(throwAt),
  });
  assert.deepEqual(places(frames), [`Shop.ship /app/src/shop.ts:${shipLine}`]);
});

test('frames without a source of their own', async () => {
  const { frames } = await reconstructStack({
    scripts: [],
    readPart: () => undefined,
    stackText: [
      'Error: x',
      '    at Array.map (<anonymous>)',
      '    at async Promise.all (index 2)',
      '    at wasm://wasm/8e6d5a1e:wasm-function[3]:0x12',
      '    at eval (eval at run (/app/a.js:7:9), <anonymous>:1:2)',
      '    at Module._compile (node:internal/modules/cjs/loader:1554:14)',
      '    at new Shop (/app/a.js:3)',
      '    at Shop.ship [as send] (C:\\app\\a.js:3:4)',
    ].join('\n'),
  });
  assert.deepEqual(frames, [
    { function: 'Array.map', inApp: false, trust: 'stack-text' },
    { function: 'Promise.all (index 2)', async: true, inApp: false, trust: 'stack-text' },
    {
      function: 'wasm-function[3]',
      module: 'wasm://wasm/8e6d5a1e',
      address: '0x12',
      inApp: false,
      trust: 'stack-text',
    },
    {
      function: 'eval',
      file: '/app/a.js',
      line: 7,
      column: 9,
      generated: { file: '<anonymous>', line: 1, column: 2 },
      inApp: true,
      trust: 'stack-text',
    },
    {
      function: 'Module._compile',
      file: 'node:internal/modules/cjs/loader',
      line: 1554,
      column: 14,
      inApp: false,
      trust: 'stack-text',
    },
    { function: 'new Shop', file: '/app/a.js', line: 3, inApp: true, trust: 'stack-text' },
    {
      function: 'Shop.ship [as send]',
      file: 'C:\\app\\a.js',
      line: 3,
      column: 4,
      inApp: true,
      trust: 'stack-text',
    },
  ]);
});

test('raw positions alone are a stack too', async () => {
  const { frames } = await reconstructStack({
    ...bundleOf({}, compiled.code, compiled.map),
    frames: [rawAt(throwAt), { ...rawAt({ line: 1, column: 1 }), functionName: '', url: 'node:fs' }],
  });
  assert.deepEqual(places(frames), [`ship /app/src/shop.ts:${shipLine}`, 'undefined node:fs:1']);
});

test('hostile: ten thousand frames are cut, and it says so', async () => {
  const stackText = `Error: x\n${'    at f (/app/a.js:1:1)\n'.repeat(10_000)}`;
  const { frames, gaps } = await reconstructStack({ scripts: [], readPart: () => undefined, stackText });
  assert.equal(frames.length, 1000);
  assert.match(gaps[0]?.reason ?? '', /first 1000 of 10000/);
});

test('fuzz: whatever script, map and stack say, frames are whole and nothing throws', async () => {
  const number = fc.oneof(fc.nat(40), fc.integer(), fc.constant(2 ** 31));
  const raw = fc.record({
    functionName: fc.string({ maxLength: 4 }),
    scriptId: fc.constantFrom('7', '8'),
    url: fc.constantFrom('file:///app/dist/shop.js', '', 'node:fs', 'wasm://wasm/1', 'file:///%'),
    line: number,
    column: number,
  });
  const map = fc.oneof(
    fc.constant(compiled.map),
    fc.string(),
    fc.nat(compiled.map.length).map((n) => compiled.map.slice(n)),
  );
  await fc.assert(
    fc.asyncProperty(
      map,
      fc.array(raw, { maxLength: 6 }),
      fc.string(),
      async (mapText, frames, stackText) => {
        const result = await reconstructStack({
          ...bundleOf({}, compiled.code, mapText),
          frames,
          stackText: `${stackText}\n${textAt(throwAt)}`,
        });
        for (const frame of result.frames) {
          assert.equal(typeof frame.inApp, 'boolean');
          assert.equal(frame.file === undefined, frame.line === undefined);
        }
      },
    ),
    { numRuns: fuzzRuns(300) },
  );
});
