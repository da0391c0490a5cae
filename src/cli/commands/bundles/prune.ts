/** `agentdump prune`: retention on demand, with the same limits as the preload and durable runs. */
import type { CommandModule } from 'yargs';
import { applyRetention } from '../../../bundle/keep/retention.ts';

import {
  defaultRunLimits,
  pruneRuns,
  type RunLimits,
  type RunRetention,
} from '../../../durable/runs/run-retention.ts';
import { FileStore } from '../../../durable/stores/file-store.ts';
import { isPostgresUrl } from '../../../durable/stores/find-store.ts';

import { formatBytes, formatCount } from '../../../model/quantities.ts';
import { escapeLine } from '../../../report/escape-terminal.ts';
import { dirOption, jsonOption, readCountOption, readSize } from '../../options/bundle-options.ts';
import { note, print, printJson } from '../../output/output.ts';

interface Words {
  dir: string;
  'max-bundles': string;
  'max-bytes': string;
  'max-runs'?: string | undefined;
  'max-run-bytes'?: string | undefined;
  'max-run-days'?: string | undefined;
  'run-store'?: string | undefined;
  'dry-run'?: boolean | undefined;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'prune',
  describe:
    'Remove bundles and finished durable runs beyond a number, a size or an age: the least worth first',
  builder: (yargs) =>
    yargs
      .option('dir', dirOption)
      .option('max-bundles', {
        type: 'string',
        describe: 'Number of bundles to keep',
        default: process.env['AGENTDUMP_MAX_BUNDLES'] || '20',
      })
      .option('max-bytes', {
        type: 'string',
        describe: 'Total size to keep, for example 500MB',
        default: process.env['AGENTDUMP_MAX_BYTES'] || '2GB',
      })
      .option('max-runs', {
        type: 'string',
        describe: 'Number of durable runs to keep; only finished ones are deleted, and none of today',
        defaultDescription: 'AGENTDUMP_MAX_RUNS, or 1000',
      })
      .option('max-run-bytes', {
        type: 'string',
        describe: 'Total size of durable runs to keep',
        defaultDescription: 'AGENTDUMP_MAX_RUN_BYTES, or 1GB',
      })
      .option('max-run-days', {
        type: 'string',
        describe: 'Delete finished runs older than this',
        defaultDescription: 'AGENTDUMP_MAX_RUN_DAYS, or 30',
      })
      .option('run-store', {
        type: 'string',
        describe:
          'PostgreSQL URL or folder of the durable runs to prune, instead of those in the dump folder',
        defaultDescription: 'AGENTDUMP_RUN_STORE',
      })
      .option('dry-run', { type: 'boolean', describe: 'Show what would be deleted, and delete nothing' })
      .option('json', jsonOption),
  handler: async (words) => {
    const dryRun = words['dry-run'] === true;
    const swept = applyRetention({
      dir: words.dir,
      maxBundles: readCountOption(words['max-bundles'], 'max-bundles'),
      maxBytes: readSize(words['max-bytes'], 'max-bytes'),
      ...(dryRun && { dryRun }),
    });
    const runs = await pruneDurableRuns(words, dryRun);
    if (words.json) return printJson({ dryRun, ...swept, ...(runs && { durableRuns: runs }) }, 2);
    const [verb, stay] = dryRun ? ['would be removed', 'would stay'] : ['removed', 'stay'];
    for (const name of swept.removed) print(escapeLine(name));
    note(
      `${formatCount(swept.removed.length, 'bundle')} ${verb} (${formatBytes(swept.freedBytes)}); ${formatCount(swept.bundles, 'bundle')} of ${formatBytes(swept.bytes)} ${stay}`,
    );
    if (!runs) return;
    for (const id of runs.removed) print(escapeLine(`run ${id}`));
    note(
      `${formatCount(runs.removed.length, 'durable run')} ${verb} (${formatBytes(runs.freedBytes)}); ${formatCount(runs.runs, 'durable run')} of ${formatBytes(runs.bytes)} ${stay}`,
    );
  },
};
export default command;

/** Undefined if there was never a run. */
async function pruneDurableRuns(words: Words, dryRun: boolean): Promise<RunRetention | undefined> {
  const limits = defaultRunLimits();
  if (words['max-runs'] !== undefined) limits.maxRuns = readCountOption(words['max-runs'], 'max-runs');
  if (words['max-run-bytes'] !== undefined)
    limits.maxBytes = readSize(words['max-run-bytes'], 'max-run-bytes');
  if (words['max-run-days'] !== undefined)
    limits.maxDays = readCountOption(words['max-run-days'], 'max-run-days');
  const place = words['run-store'] ?? (process.env['AGENTDUMP_RUN_STORE'] || words.dir);
  if (isPostgresUrl(place)) return pruneInDatabase(place, limits, dryRun);
  const store = new FileStore(place);
  return store.list().length === 0 ? undefined : pruneRuns(store, limits, { dryRun });
}

async function pruneInDatabase(url: string, limits: RunLimits, dryRun: boolean): Promise<RunRetention> {
  const { PostgresStore } = await import('../../../durable/stores/postgres-store.ts');
  const { prunePostgresRuns } = await import('../../../durable/stores/postgres/retention.ts');
  const store = await PostgresStore.connect(url);
  try {
    return await prunePostgresRuns(store, limits, { dryRun });
  } finally {
    await store.close();
  }
}
