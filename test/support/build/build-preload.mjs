// Builds the preload: one CommonJS file, five parts of which are text in it until they are needed.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { makeExpressionsLazy } from './lazy-expressions.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const oneFile = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  legalComments: 'none',
};
const minified = { minifyWhitespace: true, minifySyntax: true };
const smallFile = { ...oneFile, ...minified };
/**
 * Short names too: V8 keeps the text, and scans all of it before anything in it runs. A function that the program can see
 * sets its name itself. Those of the testing half, in which there are many, keep theirs.
 */
const shortNames = { minifyIdentifiers: true };

/** `plugins` are esbuild's: a test may put a faulty module in the place of one of ours. */
export async function buildPreload(outfile, plugins = []) {
  const preload = { ...smallFile, charset: 'ascii', plugins };
  const textOf = async (half, names = shortNames, more = []) => {
    const built = await build({
      ...preload,
      ...names,
      plugins: [...more, ...plugins],
      entryPoints: [join(root, 'src/capture/install', half)],
      write: false,
    });
    return escapeRegularExpressions(built.outputFiles[0].text);
  };
  const carrierOf = async (name, half, more) => carry(name, await textOf(half, shortNames, more));
  /** For the halves that a death compiles. */
  const lazyCarrierOf = async (name, half, more) => {
    const lazy = makeExpressionsLazy(await textOf(half, {}, more));
    const { code } = await transform(lazy, {
      ...minified,
      ...shortNames,
      target: oneFile.target,
      charset: 'ascii',
      format: 'cjs',
    });
    return carry(name, escapeRegularExpressions(code));
  };
  const carriers = [
    carryPlainly('AGENTDUMP_TESTING_HALF', await textOf('testing-half.ts', {})),
    await lazyCarrierOf('AGENTDUMP_COLD_HALF', 'cold-half.ts', [redactorIsGiven]),
    await carrierOf('AGENTDUMP_WATCHDOG_HALF', 'watchdog-half.ts'),
    await carrierOf('AGENTDUMP_RECORDING_HALF', 'recording-half.ts'),
    await lazyCarrierOf('AGENTDUMP_REDACTION_HALF', 'redaction-half.ts'),
  ];
  await build({
    ...preload,
    ...shortNames,
    entryPoints: [join(root, 'src', 'register.ts')],
    outfile,
    banner: { js: await capturedGlobals() },
    footer: { js: carriers.join('\n') },
  });
}

/** The modules of the redactor that the cold half imports, and what the redaction half exports of each. */
const ofRedactor = {
  'policy.ts': ['createPolicy'],
  'public-name.ts': ['publicName'],
  'snapshot/redactor.ts': ['createSnapshotRedactor'],
};

/**
 * Builds the cold half without the redactor, which is more than half of its text: it is compiled with the exports of the redaction
 * half as AGENTDUMP_REDACTOR (src/capture/install/half-loader.ts).
 */
export const redactorIsGiven = {
  name: 'redactor-is-given',
  setup(half) {
    half.onResolve({ filter: /\/redaction\// }, ({ path }) => {
      const name = path.replace(/^.*\/redaction\//, '');
      return name in ofRedactor ? { path: name, namespace: 'redaction-half' } : undefined;
    });
    half.onLoad({ filter: /./, namespace: 'redaction-half' }, ({ path }) => ({
      contents: `export const { ${ofRedactor[path].join(', ')} } = AGENTDUMP_REDACTOR;`,
    }));
  },
};

/**
 * What `charset: 'ascii'` leaves is in regular expressions, and in raw texts of them, where an escape means the same. A half is read one byte a
 * character: of a single other one V8 would keep and scan all of its text with two.
 */
function escapeRegularExpressions(text) {
  if (/\\[^\x00-\x7f]/.test(text)) throw new Error('a character that is not ASCII stands behind a backslash');
  return text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text that binds the names of globals before the code runs (src/capture/host/intrinsics/captured-globals.cjs says why). */
async function capturedGlobals() {
  const path = join(root, 'src', 'capture', 'host', 'intrinsics', 'captured-globals.cjs');
  const { code } = await transform(readFileSync(path, 'utf8'), {
    minifyWhitespace: true,
    target: 'node20.19',
    charset: 'ascii',
  });
  return code;
}

/**
 * A function whose comment is the text, deflated: V8 skips a comment where it would copy a string literal three times, and
 * a file of half the size is read, kept and skipped in half the time. Together 2 ms of each start, and 0.8 MB.
 */
function carry(name, text) {
  return `function ${name}(){/*${deflateRawSync(text, { level: 9 }).toString('base64')}*/}`;
}

/** The same as it stands, right behind the code: src/register-tests.ts takes the marks away, and it is code. */
function carryPlainly(name, text) {
  if (text.includes('*/')) throw new Error(`${name} would end the comment that it is carried in`);
  return `function ${name}(exports,require,module){/*TESTING${text}TESTING*/}`;
}

/** The preload of a test run, which starts the first one faster. */
export async function buildTestsPreload(outfile) {
  await build({
    entryPoints: [join(root, 'src', 'register-tests.ts')],
    outfile,
    ...smallFile,
  });
}

/** The second preload, of a program that is run again. */
export async function buildReplayPreload(outfile) {
  await build({
    entryPoints: [join(root, 'src', 'replayed', 'preload.ts')],
    outfile,
    ...oneFile,
  });
}
