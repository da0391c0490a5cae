/** Hostile stack texts, scripts, sources and source maps. */
import { escapes, type HostileInput, outside, withParts } from './synth-bundle-hostile.ts';

export function codeFaults(): HostileInput[] {
  return [...stackFaults(), ...scriptFaults(), ...mapFaults()];
}

function stack(fault: string, text: string): HostileInput {
  const error = { type: 'object', isError: true, name: 'Error', message: 'm', stack: text };
  return withParts(`stack-text/${fault}`, { 'error.json': { error } });
}

function stackFaults(): HostileInput[] {
  const at = (text: string) => `Error: m\n    at ${text}`;
  return [
    stack('ten-thousand-frames', `Error: m${'\n    at f (/a.js:1:1)'.repeat(10_000)}`),
    stack('line-of-200000-letters', at('f'.repeat(200_000))),
    stack('open-parentheses-50000', at('('.repeat(50_000))),
    stack('parentheses-50000', at(`f ${'('.repeat(25_000)}/a.js:1:1${')'.repeat(25_000)}`)),
    stack('eval-in-eval-2000', at(`${'eval (eval at f ('.repeat(2000)}/a.js:1:1${')'.repeat(4000)}`)),
    stack('spaces-for-a-slow-pattern', at(`${' '.repeat(50_000)}x`)),
    stack('colons-for-a-slow-pattern', at(`f (${':1'.repeat(50_000)})`)),
    stack('brackets-for-a-slow-pattern', at(`f${' [as '.repeat(20_000)}`)),
    stack(
      'numbers-out-of-range',
      at(`f (/a.js:${'9'.repeat(400)}:-5)\n    at g (/a.js:1e9:0x10)\n    at h (:0:0)`),
    ),
    stack(
      'paths-that-lead-outside',
      at(
        `f (${outside}:1:1)\n    at g (file:///etc/passwd:1:1)\n    at h (file://host/x%00%2e%2e/y.js:1:1)\n    at i (https://evil.example/x.js:1:1)`,
      ),
    ),
    stack('control-characters', at(`${escapes} (${escapes}:1:1)\n\u2028    at x\u0085    at y`)),
    stack('no-frame-at-all', 'at at at\n at\n    at\n    at \n'.repeat(100)),
    stack('stack-within-the-message', at(`f (/a.js:1:1)`).repeat(500)),
    stack(
      'names-of-the-prototype',
      at(
        '__proto__ (/a.js:1:1)\n    at Object.constructor.prototype [as hasOwnProperty] (/a.js:1:1)\n    at async Promise.all (index 99999999999999999999)',
      ),
    ),
  ];
}

const url = 'file:///app/a.js';
const loaded = {
  scriptId: '1',
  url,
  hash: 'x',
  isModule: true,
  lengthChars: 20,
  sourceMapUrl: 'a.js.map',
  sourcePart: 'sources/0.js',
  mapPart: 'maps/0.map',
};
const source = 'function f() { throw new Error("m"); }\nf();\n';
const thrown = {
  error: {
    type: 'object',
    isError: true,
    name: 'Error',
    message: 'm',
    stack: `Error: m\n    at f (${url}:1:22)\n    at ${url}:2:1`,
  },
  frames: [
    { functionName: 'f', scriptId: '1', url, line: 1, column: 22 },
    { functionName: '', scriptId: '1', url, line: 2, column: 1 },
  ],
};

function scripts(fault: string, part: unknown, more: Record<string, unknown> = {}): HostileInput {
  return withParts(`scripts/${fault}`, { 'error.json': thrown, 'scripts.json': part, ...more });
}

function scriptFaults(): HostileInput[] {
  const texts = { 'sources/0.js': source };
  return [
    scripts('fields-of-wrong-types', {
      scripts: [null, 1, { scriptId: 1, url: {}, sourcePart: 5, mapPart: [] }],
    }),
    scripts('of-text', { scripts: 'all of them' }),
    scripts('source-part-outside', { scripts: [{ ...loaded, sourcePart: outside, mapPart: '/etc/passwd' }] }),
    scripts('source-part-is-the-manifest', {
      scripts: [{ ...loaded, sourcePart: 'manifest.json', mapPart: 'trigger.json' }],
    }),
    scripts('source-part-missing', { scripts: [loaded] }),
    scripts(
      'map-url-outside',
      { scripts: [{ ...loaded, mapPart: undefined, sourceMapUrl: 'file:///etc/passwd' }] },
      texts,
    ),
    scripts(
      'map-url-of-data',
      {
        scripts: [
          { ...loaded, mapPart: undefined, sourceMapUrl: `data:application/json;base64,${'A'.repeat(5000)}` },
        ],
      },
      texts,
    ),
    scripts('frames-beyond-the-source', { scripts: [loaded] }, { 'sources/0.js': 'x', 'maps/0.map': '{}' }),
    scripts(
      'source-of-invalid-utf-8',
      { scripts: [{ ...loaded, mapPart: undefined }] },
      { 'sources/0.js': Buffer.from([0xff, 0xfe, 0x0a, 0xc0, 0x80, 0x0a]) },
    ),
    scripts(
      'source-line-of-300000-letters',
      { scripts: [{ ...loaded, mapPart: undefined }] },
      { 'sources/0.js': `/*${escapes}*/`.repeat(10_000) },
    ),
    scripts('thousand-of-one-url', { scripts: Array(1000).fill(loaded) }, texts),
  ];
}

function map(fault: string, content: unknown): HostileInput {
  const parts = {
    'error.json': thrown,
    'scripts.json': { scripts: [loaded] },
    'sources/0.js': source,
    'maps/0.map': content,
  };
  return withParts(`source-map/${fault}`, parts);
}

function mapFaults(): HostileInput[] {
  const whole = {
    version: 3,
    sources: ['a.ts'],
    sourcesContent: [source],
    names: ['f'],
    mappings: 'AAAAA,cAAc',
  };
  const section = (line: unknown, column: unknown, inner: unknown = whole) => ({
    offset: { line, column },
    map: inner,
  });
  let deep: unknown = whole;
  for (let i = 0; i < 150; i++) deep = { version: 3, sections: [section(0, 0, deep)] };
  return [
    map('empty', ''),
    map('not-json', 'function f() {}'),
    map('of-null', 'null'),
    map('torn', JSON.stringify(whole).slice(0, 60)),
    map('of-version-2', { ...whole, version: 2 }),
    map('without-mappings', { version: 3, sources: ['a.ts'] }),
    map('fields-of-wrong-types', {
      version: '3',
      file: 1,
      sources: 'a.ts',
      names: {},
      sourcesContent: 5,
      mappings: [],
    }),
    map('mappings-of-other-letters', { ...whole, mappings: '!!!!,\u0000\u00ff~~;;%' }),
    map('mapping-that-never-ends', { ...whole, mappings: 'g'.repeat(100_000) }),
    map('mapping-of-two-fields', { ...whole, mappings: 'AA,A,AAA,AAAAAAAA' }),
    map('numbers-that-overflow', { ...whole, mappings: '+/////////D,+/////////D+/////////D+/////////D' }),
    map('columns-that-go-below-zero', { ...whole, mappings: 'DDDDD,DDDDD;DDDDD' }),
    map('source-index-out-of-range', { ...whole, mappings: 'A+/DAA,cAAA' }),
    map('name-index-out-of-range', { ...whole, mappings: 'AAAA+/D' }),
    map('hundred-thousand-lines', { ...whole, mappings: ';'.repeat(100_000) }),
    map('hundred-thousand-segments', { ...whole, mappings: 'AAAA,'.repeat(60_000) }),
    map('sources-that-lead-outside', {
      ...whole,
      sources: [outside, '/etc/passwd', 'file:///etc/passwd'],
      sourcesContent: [null],
    }),
    map('source-root-that-leads-outside', {
      ...whole,
      sourceRoot: 'file:///etc/',
      sources: ['passwd'],
      sourcesContent: [],
    }),
    map('sources-of-wrong-types', { ...whole, sources: [null, 1, {}, []], sourcesContent: [1, {}, [], 'x'] }),
    map('source-content-of-escapes', { ...whole, sources: [escapes], sourcesContent: [escapes.repeat(200)] }),
    map('proto-keys', JSON.stringify(whole).replace('{', '{"__proto__":{"mappings":"AAAA"},')),
    map('sections-in-sections-150', deep),
    map('sections-out-of-order', { version: 3, sections: [section(5, 5), section(0, 0), section(-1, -1)] }),
    map('sections-out-of-range', {
      version: 3,
      sections: [section(1e300, 0), section('x', {}), null, section(0, 1e18)],
    }),
    map('sections-that-name-a-url', {
      version: 3,
      sections: [{ offset: { line: 0, column: 0 }, url: 'file:///etc/passwd' }],
    }),
  ];
}
