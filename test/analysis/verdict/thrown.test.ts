/** What an account says of a thrown error: whether it was thrown where it was made, whose answer it is, and what an import lacks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import type { ErrorFacts } from '../../../src/model/account.ts';
import type { Frame, SourceLine } from '../../../src/model/thread.ts';

const frame = (name: string, file: string, more: Partial<Frame> = {}): Frame => ({
  function: name,
  file,
  line: 1,
  column: 1,
  inApp: !file.includes('node_modules') && !file.startsWith('node:'),
  trust: 'stack-text',
  ...more,
});
const own = frame('auth', '/srv/app/auth.js');
const ofPackage = (name: string, pack: string) => frame(name, `/srv/app/node_modules/${pack}/index.js`);

const verdictOf = (error: ErrorFacts) =>
  reachVerdict({
    account: {
      schema: 'agentdump.analysis/1',
      bundle: { id: '1', path: '/b', capturedAt: '', sealed: true, parts: [] },
      process: { cwd: '/srv/app', uptimeMs: 60_000 },
      error,
      gaps: [],
    },
    trigger: { kind: 'uncaught-exception', isMainThread: true, handledByHost: false, phase: 'at-work' },
  });
const stepsOf = (error: ErrorFacts) => verdictOf(error).nextSteps.join('\n');

/** `¦` is where the error was made. */
function saidOf(code: string): string {
  const [before = ''] = code.split('¦');
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  const source: SourceLine[] = code
    .replace('¦', '')
    .split('\n')
    .map((text, at) => ({ line: at + 1, text }));
  const frames = [frame('work', '/srv/app/work.js', { line, column, source })];
  return verdictOf({ name: 'Error', message: 'x', frames })
    .evidence.map(({ fact }) => fact)
    .join('\n');
}

const made = [
  "fails('must not throw', ¦new Error())",
  "/* don't throw here */ q.push(¦new Error())",
  '/* never throw */ q.push(¦new Error())',
  'g.throw(¦new Error())',
  'if (bad) throw known; else done(¦new Error())',
  'if (bad) throw known\nq.push(¦new Error())',
  'if (bad) { throw known } q.push(¦new Error())',
  '// we throw below\nq.push(¦new Error())',
  'done(¦TypeError())',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the code of a program
  'say(`throw ${¦new Error()}`)',
  'throw retry(() => ¦new Error())',
];
for (const code of made)
  test(`only made: ${code}`, () => {
    assert.match(saidOf(code), /Created in/);
    assert.doesNotMatch(saidOf(code), /Thrown in/);
  });

const thrown = [
  'throw ¦new Error()',
  'if (bad) throw ¦new Error()',
  'case 1: throw ¦new errors.Bad()',
  'throw(¦new Error())',
  'throw wrap(¦new Error())',
  'throw wrap(\n  ¦new Error())',
  'throw Object.assign(¦new Error(), { code: 1 })',
  'throw known ?? ¦new Error()',
  'throw bad\n  ? first\n  : ¦new Error()',
  'throw this.last = ¦new Error()',
  'items.map(() => { throw ¦TypeError() })',
];
for (const code of thrown)
  test(`thrown: ${code}`, () => {
    assert.match(saidOf(code), /Thrown in/);
    assert.doesNotMatch(saidOf(code), /Created in/);
  });

const ofService =
  /The API refused the credentials|The API limits the rate|The service failed|holds a tool call/;

const clients: [string, ErrorFacts][] = [
  [
    'openai',
    {
      properties: { status: 401, headers: {}, requestID: 'r', error: {} },
      frames: [ofPackage('APIError.generate', 'openai'), own],
    },
  ],
  [
    'anthropic, bundled into the program',
    { properties: { status: 429, headers: {}, requestID: 'r', error: {} }, frames: [own] },
  ],
  [
    'axios',
    {
      name: 'AxiosError',
      properties: { status: 500, config: {}, request: {}, response: { status: 500, headers: {}, data: {} } },
      frames: [frame('settle', '/srv/app/node_modules/axios/lib/core/settle.js'), own],
    },
  ],
  [
    'axios, which the program gave a stack of its own',
    { properties: { status: 500, response: { status: 500, headers: {} } }, frames: [own] },
  ],
  [
    'a client that gives only the status',
    {
      name: 'ApiError',
      properties: { status: 403 },
      frames: [ofPackage('throwErrorIfNotOK', '@google/genai'), own],
    },
  ],
  [
    'the AI SDK',
    { properties: { statusCode: 503, url: 'u', responseHeaders: {} }, frames: [ofPackage('f', 'ai')] },
  ],
  [
    'undici',
    {
      properties: { statusCode: 503, headers: {} },
      frames: [frame('f', 'node:internal/deps/undici/undici')],
    },
  ],
];
for (const [name, error] of clients)
  test(`an answer of a service: ${name}`, () =>
    assert.match(stepsOf({ name: 'Error', message: 'x', ...error }), ofService));

const others: [string, ErrorFacts][] = [
  [
    'an ApiError of a server itself',
    {
      name: 'ApiError',
      properties: { statusCode: 401 },
      frames: [frame('new ApiError', '/srv/app/error.js'), own],
    },
  ],
  ['an error with the body to answer with', { properties: { status: 500, body: {} }, frames: [own] }],
  [
    'a RequestError with data and url',
    { name: 'RequestError', properties: { status: 429, data: {}, url: '/', error: {} }, frames: [own] },
  ],
  [
    'an error whose class is of a package, and that the program makes',
    {
      name: 'ApiError',
      properties: { status: 401, headers: {} },
      frames: [ofPackage('new ApiError', 'errors'), own],
    },
  ],
  [
    'an error of a framework',
    { properties: { statusCode: 500 }, frames: [ofPackage('decorate', 'fastify')] },
  ],
  [
    'http-errors',
    {
      properties: { status: 401, expose: true, headers: {} },
      frames: [ofPackage('createError', 'http-errors')],
    },
  ],
];
for (const [name, error] of others)
  test(`no answer of a service: ${name}`, () =>
    assert.doesNotMatch(stepsOf({ name: 'Error', message: 'x', ...error }), ofService));

const lacks: ErrorFacts = {
  name: 'TypeError',
  code: 'ERR_IMPORT_ATTRIBUTE_MISSING',
  message: 'Module "file:///srv/app/x.json" needs an import attribute of "type: json"',
  frames: [frame('validateAttributes', 'node:internal/modules/esm/assert')],
};
const called = (text: string): ErrorFacts => ({
  ...lacks,
  frames: [frame('load', '/srv/app/a.mjs', { source: [{ line: 1, text }] })],
});
test('an import without its attribute, whose line is not known, may be one on demand', () =>
  assert.match(
    stepsOf(lacks),
    /`with \{ type: 'json' \}` behind each .*, or `import\(…, \{ with: \{ type: 'json' \} \}\)`/,
  ));
test('an import on demand without its attribute, whose line is known', () =>
  assert.match(
    stepsOf(called("await import('./x.json')")),
    /Import x\.json as `import\(…, \{ with: \{ type: 'json' \} \}\)`\.$/m,
  ));
test('an import on demand of another module, which imports the file', () =>
  assert.match(stepsOf(called("await import('./b.mjs')")), /behind each import/));
