// Builds the preload: one CommonJS file, four parts of which are text in it until they are needed.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** `plugins` are esbuild's: a test may put a faulty module in the place of one of ours. */
export async function buildPreload(outfile, plugins = []) {
  const preload = {
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    charset: 'ascii',
    legalComments: 'none',
    plugins,
  };
  const carrierOf = async (name, half) => {
    const built = await build({ ...preload, entryPoints: [join(root, 'src/capture', half)], write: false });
    return carry(name, built.outputFiles[0].text);
  };
  const carriers = [
    await carrierOf('AGENTDUMP_COLD_HALF', 'cold-half.ts'),
    await carrierOf('AGENTDUMP_WATCHDOG_HALF', 'watchdog-half.ts'),
    await carrierOf('AGENTDUMP_RECORDING_HALF', 'recording-half.ts'),
    await carrierOf('AGENTDUMP_TESTING_HALF', 'testing-half.ts'),
  ];
  await build({
    ...preload,
    entryPoints: [join(root, 'src', 'register.ts')],
    outfile,
    footer: { js: carriers.join('\n') },
  });
}

/**
 * A function whose comment is the text, deflated: V8 skips a comment where it would copy a string literal three times, and
 * a file of half the size is read, kept and skipped in half the time. Together 2 ms of each start, and 0.8 MB.
 */
function carry(name, text) {
  return `function ${name}(){/*${deflateRawSync(text, { level: 9 }).toString('base64')}*/}`;
}

/** The second preload, of a program that is run again. */
export async function buildReplayPreload(outfile) {
  await build({
    entryPoints: [join(root, 'src', 'replayed', 'preload.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    legalComments: 'none',
  });
}
