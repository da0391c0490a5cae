/** `agentdump verify`: whether a bundle is what its writer sealed. */
import type { CommandModule } from 'yargs';
import { verifyBundle } from '../../bundle/verify.ts';
import { harmlessJson } from '../../report/json.ts';
import { renderVerification } from '../../report/verification.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  identityOption,
  keysOf,
  pathOf,
} from '../bundle-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { print, stdoutColumns, stdoutWantsColour } from '../output.ts';

const exitCodeOf = {
  whole: exitCodes.explained,
  torn: exitCodes.explainedWithGaps,
  altered: exitCodes.unreadableInput,
} as const;

const command: CommandModule<object, BundleWords & { json?: boolean | undefined }> = {
  command: 'verify <bundle>',
  describe: 'Whether every part is as it was written',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('json', { type: 'boolean', describe: 'One JSON document' })
      .option('dir', dirOption)
      .option('identity', identityOption)
      .epilogue('Exit code: 0 whole, 1 torn (what is there is as written), 3 altered.'),
  handler: async (words) => {
    const keys = await keysOf(words);
    const verification = verifyBundle(pathOf(words), keys ? { keys } : {});
    process.exitCode = exitCodeOf[verification.verdict];
    if (words.json) return print(harmlessJson(JSON.stringify(verification, null, 2)));
    const palette = stdoutWantsColour()
      ? (await import('../terminal-palette.ts')).terminalPalette
      : undefined;
    print(renderVerification(verification, { columns: stdoutColumns(), ...(palette && { palette }) }));
  },
};
export default command;
