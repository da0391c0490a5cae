/** Whole maps: from seven tools, in every notation, and hostile ones. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { AgentdumpError, MalformedInput } from '../../../src/errors.ts';
import { findDebugId, findMapUrl, readDataUrl } from '../../../src/formats/source-map/data-url.ts';
import { openSourceMap, type SourceMapReader } from '../../../src/formats/source-map/source-map.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { synthMap } from '../../support/synth/synth-source-map.ts';

const fixtures = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'fixtures', 'source-maps');
const smallest = synthMap([{ line: 0, column: 0, source: 0, sourceLine: 4, sourceColumn: 2, name: 0 }]);
const position = { source: 'src/0.ts', line: 5, column: 3, name: 'name0' };

async function using<T>(bytes: string | Uint8Array, use: (map: SourceMapReader) => T): Promise<T> {
  const map = await openSourceMap(bytes);
  try {
    return use(map);
  } finally {
    map.close();
  }
}
const positionIn = (bytes: string | Uint8Array) => using(bytes, (map) => map.findOriginal(1, 1));

test('smallest: one mapping', async () => {
  await using(JSON.stringify(smallest), (map) => {
    assert.deepEqual(map.findOriginal(1, 1), position);
    assert.deepEqual([map.sources, map.mappedLines, map.linkedSections], [['src/0.ts'], 1, 0]);
    assert.equal(map.findOriginal(2, 1), undefined);
    assert.equal(map.sourceContent('src/0.ts'), undefined);
  });
});

test('a position that is none has no original', async () => {
  await using(JSON.stringify(smallest), (map) => {
    for (const bad of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY]) {
      assert.equal(map.findOriginal(bad, 1), undefined);
      assert.equal(map.findOriginal(1, bad), undefined);
    }
  });
});

const json = JSON.stringify(smallest);
const writings: Record<string, string | Uint8Array> = {
  bytes: Buffer.from(json),
  'bytes inside a larger buffer': Buffer.from(`xx${json}xx`).subarray(2, -2),
  'an XSSI prefix': `)]}'\n${json}`,
  'an XSSI prefix with words behind it': `)]}' no JSON for you\n${json}`,
  'a byte order mark': Buffer.from(`\uFEFF${json}`),
  'a data: URL in base64': `data:application/json;charset=utf-8;base64,${Buffer.from(json).toString('base64')}`,
  'a data: URL with percent signs': `data:application/json,${encodeURIComponent(json)}`,
  'a data: URL with bare braces': `data:application/json,${json}`,
  'the version as a string': JSON.stringify({ ...smallest, version: '3' }),
  'a sourceRoot': JSON.stringify({ ...smallest, sources: ['0.ts'], sourceRoot: 'src/' }),
  'a sourceRoot without slash': JSON.stringify({ ...smallest, sources: ['../src/0.ts'], sourceRoot: 'src' }),
  'null fields': JSON.stringify({ ...smallest, sourceRoot: null, sourcesContent: null, file: null }),
};
for (const [name, bytes] of Object.entries(writings))
  test(`reads a map written with ${name}`, async () => {
    assert.deepEqual(await positionIn(bytes), position);
  });

test('a map may leave out its names', async () => {
  const { names: _, ...nameless } = synthMap([
    { line: 0, column: 0, source: 0, sourceLine: 4, sourceColumn: 2 },
  ]);
  assert.deepEqual(await positionIn(JSON.stringify(nameless)), { source: 'src/0.ts', line: 5, column: 3 });
});

test('a mapping to no known source is none', async () => {
  for (const sources of [[], [null], [7], ['']])
    assert.equal(await positionIn(JSON.stringify({ ...smallest, sources })), undefined);
});

test('content comes by the name of the source', async () => {
  const map = { ...smallest, sources: ['a.ts', 'b.ts', 'c.ts'], sourcesContent: ['A', null, 'C'] };
  await using(JSON.stringify(map), (reader) => {
    assert.deepEqual(
      ['a.ts', 'b.ts', 'c.ts', 'd.ts'].map((name) => reader.sourceContent(name)),
      ['A', undefined, 'C', undefined],
    );
  });
});

test('sections: offsets move lines, and columns on the first line only', async () => {
  const part = (name: string) =>
    synthMap(
      [
        { line: 0, column: 0, source: 0, sourceLine: 0, sourceColumn: 0 },
        { line: 1, column: 0, source: 0, sourceLine: 1, sourceColumn: 0 },
      ],
      { sources: [name], sourcesContent: [name.toUpperCase()] },
    );
  const map = {
    version: 3,
    sections: [
      { offset: { line: 10, column: 5 }, map: part('b.ts') },
      { offset: { line: 0, column: 0 }, map: part('a.ts') },
      { offset: { line: 20, column: 0 }, url: 'elsewhere.map' },
      {
        offset: { line: 30, column: 7 },
        map: { version: 3, sections: [{ offset: { line: 0, column: 3 }, map: part('c.ts') }] },
      },
    ],
  };
  await using(JSON.stringify(map), (reader) => {
    const at = (line: number, column: number) => {
      const found = reader.findOriginal(line, column);
      return found && `${found.source}:${found.line}`;
    };
    assert.deepEqual(
      [at(1, 1), at(2, 9), at(11, 5), at(11, 6), at(12, 1), at(31, 10), at(31, 11), at(32, 1)],
      ['a.ts:1', 'a.ts:2', undefined, 'b.ts:1', 'b.ts:2', undefined, 'c.ts:1', 'c.ts:2'],
    );
    assert.deepEqual(
      [reader.mappedLines, reader.linkedSections, reader.sourceContent('c.ts')],
      [32, 1, 'C.TS'],
    );
  });
});

/** The 1-based line that contains `marker` in a source file of the fixtures. */
function sourceLineOf(file: string, marker: string): number {
  const lines = readFileSync(join(fixtures, 'src', file), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(marker)) + 1;
}

for (const tool of ['esbuild', 'webpack', 'rollup', 'vite', 'swc', 'tsc', 'tsc-inline'])
  test(`real: the map of ${tool} finds the throw in the source`, async () => {
    const files = readdirSync(join(fixtures, tool), { recursive: true, encoding: 'utf8' });
    const generated = files.find((name) => /(?:bundle\.[cm]js|parse answer\.js)$/.test(name)) as string;
    const code = readFileSync(join(fixtures, tool, generated), 'utf8');
    const url = findMapUrl(code) as string;
    const map = url.startsWith('data:') ? url : readFileSync(join(fixtures, tool, `${generated}.map`));
    const offset = code.search(/(?:new |(?<!\w))Error\(/);
    const line = code.slice(0, offset).split('\n').length;
    const column = offset - code.lastIndexOf('\n', offset - 1);
    await using(map, (reader) => {
      const found = reader.findOriginal(line, column);
      assert.match(found?.source ?? '', /src\/tools\/parse answer\.ts$/);
      assert.equal(found?.line, sourceLineOf('tools/parse answer.ts', 'frame: parseAnswer'));
      const content = reader.sourceContent(found?.source ?? '');
      const original = readFileSync(join(fixtures, 'src/tools/parse answer.ts'), 'utf8');
      assert.equal(content, tool === 'tsc' || tool === 'rollup' ? content : original);
    });
  });

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const nested = (depth: number) =>
  `${'{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(depth)}${json}${'}]}'.repeat(depth)}`;
const refused: Record<string, string | Uint8Array> = {
  nothing: '',
  'no JSON': 'var a = 1;',
  'half a map': json.slice(0, -9),
  'a list': '[]',
  null: 'null',
  'lists 200,000 deep': deep(200_000),
  'version 2': JSON.stringify({ ...smallest, version: 2 }),
  'a version that is a list': JSON.stringify({ ...smallest, version: [3] }),
  'no version': JSON.stringify({ ...smallest, version: undefined }),
  'no mappings': JSON.stringify({ ...smallest, mappings: undefined }),
  'mappings that are a number': JSON.stringify({ ...smallest, mappings: 5 }),
  'no sources': JSON.stringify({ ...smallest, sources: undefined }),
  'everything behind __proto__': `{"__proto__":${json}}`,
  'a negative offset': JSON.stringify({
    version: 3,
    sections: [{ offset: { line: -1, column: 0 }, map: smallest }],
  }),
  'an offset that is no number': JSON.stringify({
    version: 3,
    sections: [{ offset: { line: '0', column: 0 }, map: smallest }],
  }),
  'sections that are no list': JSON.stringify({ version: 3, sections: {} }),
  'index maps 9 deep': nested(9),
  'index maps 100,000 deep': nested(100_000),
  'zero bytes': new Uint8Array(1 << 20),
  'a data: URL without comma': 'data:application/json;base64',
};
for (const [name, bytes] of Object.entries(refused))
  test(`hostile: ${name} is malformed`, async () => {
    await assert.rejects(openSourceMap(bytes), MalformedInput);
  });

test('hostile: fields of wrong depth and kind do no harm', async () => {
  const map = `{"version":3,"sources":[${deep(200_000)},"src/1.ts"],"names":[${deep(200_000)}],
    "sourcesContent":[${deep(200_000)}],"x_extra":${deep(200_000)},"mappings":"AAAAA,CCAA"}`;
  await using(map, (reader) => {
    assert.equal(reader.findOriginal(1, 1), undefined);
    assert.deepEqual(reader.findOriginal(1, 2), { source: 'src/1.ts', line: 1, column: 1 });
    assert.equal(reader.sourceContent(''), undefined);
  });
});

test('hostile: more bytes than the limit', async () => {
  const huge = { length: 2 ** 40 } as unknown as Uint8Array;
  await assert.rejects(
    openSourceMap(huge),
    (error) => error instanceof AgentdumpError && error.code === 'over-limit',
  );
});

test('hostile: sources that are no URLs, or climb', async () => {
  const sources = [
    'http://[',
    'a\u0000b',
    `${'../'.repeat(50_000)}etc/passwd`,
    '/../../etc/passwd',
    '%',
    'C:\\a\\..\\b',
  ];
  const mappings = 'AAAA,CCAA,CCAA,CCAA,CCAA,CCAA';
  await using(JSON.stringify({ version: 3, sources, names: [], mappings }), (reader) => {
    const found = sources.map((_, index) => reader.findOriginal(1, index + 1)?.source);
    assert.deepEqual(
      [found[0], found[1], found[3], found[4], found[5]],
      ['http://[', 'a\u0000b', '/etc/passwd', '%', 'C:\\a\\..\\b'],
    );
  });
});

test('the comment that names the map is the last one', () => {
  assert.equal(findMapUrl('a();\n//# sourceMappingURL=a.js.map\n'), 'a.js.map');
  assert.equal(findMapUrl('"//# sourceMappingURL=no"\n//@ sourceMappingURL=b.map'), 'b.map');
  assert.equal(findMapUrl('/*# sourceMappingURL=c.map */'), 'c.map');
  assert.equal(findMapUrl('a()'), undefined);
  assert.equal(findMapUrl('//# sourceMappingURL='), undefined);
  assert.equal(
    findDebugId('a()\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n'),
    '85314830-023f-4cf1-a267-535f4e37bb17',
  );
  assert.equal(findDebugId('a()'), undefined);
});

test('data: URLs keep stray percent signs and any byte', () => {
  const text = (url: string) => Buffer.from(readDataUrl(url)).toString('latin1');
  assert.equal(text('data:,100%,a%41%zz%F'), '100%,aA%zz%F');
  assert.equal(text('data:;base64,QUI='), 'AB');
  assert.throws(() => readDataUrl('https://example.com/a.map'), MalformedInput);
});

test('fuzz: any change of a valid map is refused or answers inside its own ranges', async () => {
  const source = JSON.stringify(
    synthMap(
      [0, 1, 2, 3].map((n) => ({
        line: n,
        column: n * 2,
        source: n,
        sourceLine: n,
        sourceColumn: n,
        name: n,
      })),
    ),
  );
  const change = fc.record({
    at: fc.nat(source.length - 1),
    remove: fc.nat(3),
    insert: fc.string({ maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let text = source;
      for (const { at, remove, insert } of changes)
        text = text.slice(0, at) + insert + text.slice(at + remove);
      try {
        await using(text, (map) => {
          for (let line = 1; line < 6; line++)
            for (let column = 1; column < 10; column++) {
              const found = map.findOriginal(line, column);
              if (found)
                assert.ok(map.sources.includes(found.source) && found.line >= 1 && found.column >= 1);
            }
        });
      } catch (error) {
        assert.ok(error instanceof MalformedInput, String(error));
      }
    }),
    { numRuns: fuzzRuns(1000) },
  );
});
