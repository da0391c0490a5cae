/**
 * `agentdump verify`: whether a bundle, or a folder of bundles, is unchanged since it was sealed, and with an option whether
 * a bundle still contains a secret.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { type Verification, verifyBundle } from '../../../bundle/finished/verify.ts';
import {
  type FolderVerification,
  isDumpFolder,
  verifyFolder,
} from '../../../bundle/finished/verify-folder.ts';
import { AgentdumpError } from '../../../errors.ts';
import { renderFolderVerification } from '../../../report/folder-verification.ts';
import { harmlessJson } from '../../../report/json.ts';
import { renderVerification } from '../../../report/verification.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  keyOptions,
  keysOf,
  pathOf,
} from '../../options/bundle-options.ts';
import { print, stdoutColumns, stdoutWantsColour } from '../../output/output.ts';

interface Words extends BundleWords {
  ledger?: string | undefined;
  anchor?: string | undefined;
  key?: string | undefined;
  secrets?: boolean | undefined;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'verify <bundle>',
  describe:
    'Check the integrity of a bundle or of a folder of them; with --secrets search a bundle for secrets',
  builder: (yargs) =>
    yargs
      .positional('bundle', {
        ...bundlePositional,
        describe: `${bundlePositional.describe}; a dump folder: every bundle that its ledger lists`,
      })
      .option('secrets', {
        type: 'boolean',
        describe: 'Search every part for secrets, with secretlint if installed',
      })
      .option('ledger', { type: 'string', describe: 'Path of the ledger; default: beside the bundle' })
      .option('anchor', {
        type: 'string',
        describe: 'Ledger head that was stored elsewhere, to compare with',
      })
      .option('key', { type: 'string', describe: 'File with the Ed25519 public key that signed the ledger' })
      .option('json', { type: 'boolean', describe: 'Print JSON' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue(
        [
          'Exit code: 0 whole; 1 torn (what is there is as written), not in the ledger, or a secret was found; 3 altered, or the ledger was tampered with.',
          'Of a folder: 0 all that the ledger lists is there, whole, under its name; 1 something is not, or there is no ledger; 3 the ledger was tampered with.',
        ].join('\n'),
      ),
  handler: async (words) => {
    const keys = await keysOf(words);
    if (isDumpFolder(words.bundle)) return verifyWhole(words, keys);
    const path = pathOf(words);
    const verification = verifyBundle(path, { ...(keys && { keys }), ...ledgerWords(words) });
    const secrets = words.secrets ? await scan(path, keys) : undefined;
    const found = { ...verification, ...(secrets && { secrets }) };
    process.exitCode = exitCodeFor(found, words);
    if (words.json) return print(harmlessJson(JSON.stringify(found, null, 2)));
    print(renderVerification(found, { columns: stdoutColumns(), ...(await colours()) }));
  },
};
export default command;

async function verifyWhole(words: Words, keys: Awaited<ReturnType<typeof keysOf>>): Promise<void> {
  if (words.secrets)
    throw new AgentdumpError(
      'usage',
      `--secrets searches one bundle, and ${words.bundle} is a folder of them: name one of it`,
      {
        argument: 'secrets',
      },
    );
  const found = verifyFolder(words.bundle, { ...(keys && { keys }), ...ledgerWords(words) });
  process.exitCode = exitCodeForFolder(found, words);
  if (words.json) return print(harmlessJson(JSON.stringify(found, null, 2)));
  print(renderFolderVerification(found, await colours()));
}

async function colours() {
  if (!stdoutWantsColour()) return {};
  return { palette: (await import('../../output/terminal-palette.ts')).terminalPalette };
}

function exitCodeForFolder({ verdict, ledger }: FolderVerification, { anchor, key }: Words): ExitCode {
  if (ledger?.verdict === 'tampered') return exitCodes.unreadableInput;
  const isUnanchored = (anchor !== undefined || key !== undefined) && ledger?.verdict !== 'verified';
  return verdict !== 'whole' || ledger?.verdict === 'torn-tail' || isUnanchored
    ? exitCodes.explainedWithGaps
    : exitCodes.explained;
}

function ledgerWords({ ledger, anchor, key }: Words): Parameters<typeof verifyBundle>[1] {
  if (ledger !== undefined && !existsSync(ledger))
    throw new AgentdumpError('not-found', `there is no ledger at ${ledger}`, { path: ledger });
  return {
    ...(ledger !== undefined && { ledger }),
    ...(anchor !== undefined && { anchor }),
    ...(key !== undefined && { publicKey: readFileSync(key, 'utf8').trim() }),
  };
}

async function scan(path: string, keys: Awaited<ReturnType<typeof keysOf>>) {
  const [{ startBoundedEngine }, { scanBundle }, { openBundle }] = await Promise.all([
    import('../../../analysis/secrets/bounded-engine.ts'),
    import('../../../analysis/secrets/scan-bundle.ts'),
    import('../../../bundle/read/reader.ts'),
  ]);
  const bundle = openBundle(path, keys);
  try {
    const engine = await startBoundedEngine();
    return await scanBundle(bundle.source, engine).finally(() => engine.close());
  } finally {
    bundle.close();
  }
}

type Found = Verification & { secrets?: Awaited<ReturnType<typeof scan>> };

function exitCodeFor({ verdict, ledger, secrets }: Found, { anchor, key }: Words): ExitCode {
  const isTampered = ledger?.verdict === 'tampered' || ledger?.entry === 'differs';
  if (verdict === 'altered' || isTampered) return exitCodes.unreadableInput;
  const isAsked = anchor !== undefined || key !== undefined;
  const isUnsure = ledger ? ledger.entry === 'absent' || ledger.verdict === 'torn-tail' : isAsked;
  const isUnanchored = isAsked && ledger?.verdict === 'unanchored';
  const hasSecrets = secrets !== undefined && secrets.finds.length + secrets.unsearched.length > 0;
  return verdict === 'torn' || isUnsure || isUnanchored || hasSecrets
    ? exitCodes.explainedWithGaps
    : exitCodes.explained;
}
