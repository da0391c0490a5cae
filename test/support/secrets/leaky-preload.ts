/** Builds preloads with a redactor that is broken in a given way, for the test that none of their parts is kept. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
// @ts-expect-error: the build's own scripts have no types
import { buildPreload } from '../build/build-preload.mjs';

export const faults = {
  'lets everything through': `
    text: (text) => text,
    code: (text) => text,
    names: (text) => text,
    value: (value) => JSON.parse(JSON.stringify(value)),
    environment: (all) => Object.fromEntries(Object.entries(all).map(([name, value]) => [name, { value }])),`,
  'encodes in base64 instead of redacting': `
    text: (text) => Buffer.from(text).toString('base64'),
    code: (text) => Buffer.from(text).toString('base64'),
    value: (value) => ({ encoded: Buffer.from(JSON.stringify(value)).toString('base64') }),`,
  'leaves out what it should redact': `
    value: ({ AGENTDUMP_CANARY, ...value }) => JSON.parse(JSON.stringify(value)),
    text: (text) => text.slice(text.indexOf('\\n') + 1),
    code: (text) => text.slice(text.indexOf('\\n') + 1),`,
  'redacts the field and leaks the value beside it': `
    value: (value) => ({ ...real.value(value), cache: [value.AGENTDUMP_CANARY] }),
    text: (text) => real.text(text) + text.split('\\n')[0].split('').reverse().join(''),
    code: (text) => real.code(text) + text.split('\\n')[0],`,
  throws: `
    code() { throw new Error('no memory'); },
    text() { throw new Error('no memory'); },
    value() { throw new Error('no memory'); },`,
};
export type Fault = keyof typeof faults;

/** The patterns of the files that the last build replaced. */
const replaced = new Set<string>();

/** Returns the path of the preload. */
export async function buildLeakyPreload(fault: Fault): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-leaky-'));
  const outfile = join(folder, 'register.cjs');
  const plugins = [faultyPolicy(faults[fault]), looseSnapshots];
  replaced.clear();
  await buildPreload(outfile, plugins);
  // If a file has moved, the preload would be intact and the test meaningless.
  if (replaced.size < plugins.length) throw new Error(`replaced in the preload: ${[...replaced].join(', ')}`);
  return outfile;
}

/** Overrides methods of the real policy. */
function faultyPolicy(methods: string): Plugin {
  return replacing(/redaction\/policy\.ts$/, (path) => ({
    contents: `
      import { createPolicy as createReal } from ${JSON.stringify(path)};
      export function createPolicy(options) {
        const real = createReal(options);
        const faulty = {${methods}
        };
        return new Proxy(real, {
          get: (_, name) => faulty[name] ?? (typeof real[name] === 'function' ? real[name].bind(real) : real[name]),
        });
      }`,
  }));
}

/** Lets the strings of the heap pass unchanged. */
const looseSnapshots: Plugin = replacing(/redaction\/snapshot\/redactor\.ts$/, () => ({
  contents: `
    export function createSnapshotRedactor() {
      return { write: (chunk) => Buffer.from(chunk), end: () => Buffer.alloc(0) };
    }`,
}));

function replacing(file: RegExp, make: (path: string) => { contents: string }): Plugin {
  return {
    name: `replacing ${file.source}`,
    setup(build) {
      const namespace = file.source;
      build.onResolve({ filter: /\.ts$/ }, (given) => {
        const path = resolve(given.resolveDir, given.path);
        return file.test(path) && given.namespace !== namespace ? { path, namespace } : undefined;
      });
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => {
        replaced.add(namespace);
        return { ...make(path), resolveDir: dirname(path), loader: 'js' };
      });
    },
  };
}
