/** `agentdump send`: sends sealed bundles to a store, each once. */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { type ListedBundle, listBundles } from '../../../bundle/finished/list.ts';
import { programsOf } from '../../../bundle/keep/starts.ts';
import { FileLease } from '../../../durable/stores/file-lease.ts';
import { AgentdumpError } from '../../../errors.ts';
import type { SentBundle } from '../../../model/fleet/issue.ts';
import { renderSent } from '../../../report/issues.ts';
import type { FleetStore } from '../../../store/fleet-store.ts';
import { nameOfStore } from '../../../store/places.ts';
import { type Receiver, receiversOf } from '../../../store/receivers/receivers.ts';
import { noteFailure, noteSent, readOutbox } from '../../../store/sending/outbox.ts';
import { tellStarts, untoldStarts } from '../../../store/sending/starts.ts';
import { exitCodes } from '../../exit-codes.ts';
import { dirOption, jsonOption, keyOptions, keysOf, pathOf } from '../../options/bundle-options.ts';
import { requireSize } from '../../options/option-words.ts';
import { storeOption, withStore } from '../../options/store-options.ts';
import { note, print, printJson, stdoutWantsColour } from '../../output/output.ts';

interface Words {
  bundles?: string[] | undefined;
  all?: boolean | undefined;
  background?: boolean | undefined;
  budget?: string | undefined;
  dir: string;
  to?: string | undefined;
  json?: boolean | undefined;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

/** Limit for one background sender, so that a folder that was never sent does not fill a network. */
const defaultBudgetBytes = 4 * 1024 ** 3;
/** Below the dump folder. */
const senderLeaseName = 'sender';

const command: CommandModule<object, Words> = {
  command: 'send [bundles..]',
  describe: 'Send sealed bundles to a store, and tell OpenTelemetry and Sentry of them',
  builder: (yargs) =>
    yargs
      .positional('bundles', {
        type: 'string',
        array: true,
        describe: '"latest", paths, or names or id prefixes of bundles in --dir',
      })
      .option('all', { type: 'boolean', describe: 'Every sealed bundle of --dir' })
      .option('budget', {
        type: 'string',
        requiresArg: true,
        describe:
          'With --all: of those not sent before so many bytes, and the rest the next time; K, M and G may follow',
      })
      // For `run` and the others: the store is not asked about bundles that it accepted before, and nothing is printed.
      .option('background', { type: 'boolean', hidden: true })
      .option('dir', dirOption)
      .option('to', storeOption)
      .option('json', jsonOption)
      .options(keyOptions)
      .epilogue(
        'A bundle that is there already is success. Exit code: 0 all are in the store, 1 one was refused, 2 usage, or no store.',
      ),
  handler: async (words) => {
    if (words.background) return sendQuietly(words);
    const paths = pathsOf(words);
    const receivers = receiversOf(process.env);
    const keys = await keysOf(words);
    const sent: SentBundle[] = [];
    const wantsStore = words.to !== undefined || receivers.length === 0;
    if (paths.length && wantsStore)
      await withStore(words.to, 'to', async (store) => {
        const programOf = programsOf(words.dir);
        const untold = await tryToTell(words.dir, words.to!, store);
        if (untold !== undefined) note(untold);
        const onSent = (one: SentBundle) => {
          if (dirname(resolve(one.path)) === resolve(words.dir)) noteSent(words.dir, words.to!, one);
        };
        sent.push(...(await store.send(paths, { ...(keys && { keys }), programOf, onSent })));
        await store.settle(sent, note);
      });
    await tellReceivers(receivers, words);
    for (const { place } of receivers) {
      const { failure } = readOutbox(words.dir, place);
      if (failure) note(failure.because);
    }
    if (!wantsStore && !words.json) return;
    if (sent.some(({ outcome }) => outcome === 'refused')) process.exitCode = exitCodes.explainedWithGaps;
    if (words.json) return printJson({ sent }, 2);
    if (!sent.length)
      return note(
        words.budget ? `nothing in ${words.dir} is left to send` : `no sealed bundle in ${words.dir}`,
      );
    const palette = stdoutWantsColour()
      ? (await import('../../output/terminal-palette.ts')).terminalPalette
      : undefined;
    print(renderSent(sent, { ...(palette && { palette }) }));
  },
};
export default command;

/**
 * Until there is nothing new: bundles may be written while others are sent. What can't be sent is shown by `agentdump
 * status`.
 */
async function sendQuietly({ dir, to, budget }: Words): Promise<void> {
  const lease = takeSenderLease(dir);
  if (!lease) return;
  try {
    if (to !== undefined) await sendToStore(dir, to, budget);
    await tellReceivers(receiversOf(process.env), { dir, to });
  } catch {
    // An invalid address is shown by `status`.
  } finally {
    lease.release();
  }
}

async function sendToStore(dir: string, to: string, budget: string | undefined): Promise<void> {
  let left = budget === undefined ? defaultBudgetBytes : requireSize(budget, '--budget');
  // In a folder that can't be written to, no list is kept.
  const done = new Set<string>();
  const next = (): ListedBundle[] =>
    withinBudget(
      readOutbox(dir, to).waiting.filter(({ path }) => !done.has(path)),
      left,
    );
  try {
    if (next().length || untoldStarts(dir, to).length)
      await withStore(to, 'to', async (store) => {
        const untold = await tryToTell(dir, to, store);
        const sent: SentBundle[] = [];
        const onSent = (one: SentBundle) => {
          noteSent(dir, to, one);
          done.add(one.path);
        };
        for (let waiting = next(); waiting.length; waiting = next()) {
          left -= waiting.reduce((sum, { bytes }) => sum + bytes, 0);
          const paths = waiting.map(({ path }) => path);
          // Again each time: the program may have been restarted, and have died.
          const programOf = programsOf(dir);
          sent.push(...(await store.send(paths, { programOf, onSent })));
        }
        await store.settle(sent, note);
        if (untold !== undefined) noteFailure(dir, to, untold);
      });
  } catch (error) {
    noteFailure(dir, to, error instanceof Error ? error.message : String(error));
  }
}

/** Before the bundles, of whose alerts they are the rates. Returns why not: that keeps no bundle from being sent. */
async function tryToTell(dir: string, to: string, store: FleetStore): Promise<string | undefined> {
  try {
    await tellStarts(dir, to, store);
    return undefined;
  } catch (error) {
    return `the starts were not counted: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function tellReceivers(
  receivers: readonly Receiver[],
  { dir, to }: Pick<Words, 'dir' | 'to'>,
): Promise<void> {
  if (receivers.length === 0) return;
  const { report } = await import('../../../store/receivers/report.ts');
  for (const receiver of receivers) await report(dir, receiver, to && nameOfStore(to));
}

/** One sender per folder: undefined while there is another, which looks again before it ends. */
function takeSenderLease(dir: string): FileLease | undefined {
  try {
    const folder = join(dir, senderLeaseName);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return FileLease.take(folder, dir);
  } catch {
    return undefined;
  }
}

/** The first of them, up to the one that exhausts the budget; so at least one if there are any. */
function withinBudget(bundles: readonly ListedBundle[], budget: number): ListedBundle[] {
  let left = budget;
  return bundles.filter(({ bytes }) => {
    const fits = left > 0;
    left -= bytes;
    return fits;
  });
}

/** Of a folder, the sealed ones: the others are still being written, or will never be complete. */
function pathsOf({ bundles = [], all = false, dir, budget, to }: Words): string[] {
  if (all === bundles.length > 0)
    throw new AgentdumpError('usage', 'name the bundles to send, or --all', { argument: 'bundles' });
  if (!all && budget !== undefined)
    throw new AgentdumpError('usage', '--budget goes with --all', { argument: '--budget' });
  if (!all) return bundles.map((bundle) => pathOf({ bundle, dir }));
  const listed = listBundles(dir);
  const unsealed = listed.filter(({ state }) => state === 'partial' || state === 'unreadable').length;
  if (unsealed > 0) note(`${unsealed} in ${dir} not sealed: left out`);
  const sealed = listed.filter(({ state }) => state !== 'partial' && state !== 'unreadable').reverse();
  if (budget === undefined || to === undefined) return sealed.map(({ path }) => path);
  const { waiting } = readOutbox(dir, to);
  const chosen = withinBudget(waiting, requireSize(budget, '--budget'));
  if (chosen.length < waiting.length)
    note(`${waiting.length - chosen.length} left for the next time (--budget)`);
  return chosen.map(({ path }) => path);
}
