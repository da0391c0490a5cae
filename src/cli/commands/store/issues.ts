/** `agentdump issues`: the faults of a fleet, according to its store. */
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../../errors.ts';
import type { Decision, Issue } from '../../../model/fleet/issue.ts';
import { formatCount } from '../../../model/quantities.ts';
import { renderIssue, renderIssueList, renderReprocessed } from '../../../report/issues.ts';
import type { FleetStore } from '../../../store/fleet-store.ts';
import {
  jsonOption,
  keyOptions,
  keysOf,
  outputOption,
  readCountOption,
} from '../../options/bundle-options.ts';
import { storeOption, withStore } from '../../options/store-options.ts';
import {
  note,
  print,
  printForeign,
  printJson,
  stdoutColumns,
  stdoutWantsColour,
} from '../../output/output.ts';
import { meantText } from '../../suggest.ts';

interface Words {
  action?: string | undefined;
  ids?: string[] | undefined;
  store?: string | undefined;
  release?: string | undefined;
  all?: boolean | undefined;
  limit?: string | undefined;
  output?: string | undefined;
  json?: boolean | undefined;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

interface Action {
  words: string;
  about: string;
  /** How many ids it takes. */
  least: number;
  most: number;
  act(store: FleetStore, words: Words, ids: [string, ...string[]]): Promise<void>;
}

const actions: Record<string, Action> = {
  show: { words: '<id>', about: 'history, counts, and the bundles of one', least: 1, most: 1, act: show },
  fetch: {
    words: '<bundle> [--output F]',
    about: 'copy a bundle from the store to a file',
    least: 1,
    most: 1,
    act: async (store, { json, output }, [bundle]) => {
      const path = await store.fetch(bundle, output);
      if (json) printJson({ path });
      else printForeign(path);
    },
  },
  resolve: {
    words: '<id> [--release R]',
    about: 'it is mended, in release R; deaths after that bring it back as regressed',
    least: 1,
    most: 1,
    act: async (store, words, [id]) => {
      const { release } = words;
      const decision: Decision = { action: 'resolve', id, ...(release !== undefined && { release }) };
      tell(words, await store.decide(decision), 'resolved');
    },
  },
  ignore: {
    words: '<id>',
    about: 'it is counted, and needs nobody',
    least: 1,
    most: 1,
    act: async (store, words, [id]) => tell(words, await store.decide({ action: 'ignore', id }), 'ignored'),
  },
  reopen: {
    words: '<id>',
    about: 'take back resolve or ignore',
    least: 1,
    most: 1,
    act: async (store, words, [id]) =>
      tell(words, await store.decide({ action: 'reopen', id }), 'open again'),
  },
  merge: {
    words: '<id> <id…>',
    about: 'the others are the same fault as the first',
    least: 2,
    most: Number.POSITIVE_INFINITY,
    act: async (store, words, [id, ...others]) =>
      tell(words, await store.decide({ action: 'merge', id, others }), 'has them all'),
  },
  split: {
    words: '<id>',
    about: 'undo a merge: each signature is an issue of its own',
    least: 1,
    most: 1,
    act: async (store, words, [id]) => {
      const issues = await store.decide({ action: 'split', id });
      if (words.json) printJson({ issues });
      else print(issues.map((one) => one.slice(0, 8)).join('\n'));
    },
  },
  reprocess: {
    words: '',
    about: 'group what older rules have grouped by those of now; issues keep their history',
    least: 0,
    most: 0,
    act: async (store, words) => {
      const keys = await keysOf(words);
      const done = await store.reprocess({ ...(keys && { keys }) });
      if (words.json) printJson(done);
      else print(renderReprocessed(done));
    },
  },
};

const command: CommandModule<object, Words> = {
  command: 'issues [action] [ids..]',
  describe: 'List the faults that the bundles of a store show, and say what is resolved or ignored',
  builder: (yargs) => {
    const lines = Object.entries(actions).map(
      ([name, { words, about }]) => `  ${`${name} ${words}`.padEnd(30)}${about}`,
    );
    return yargs
      .usage(`$0 issues [action] [id…]\n\nWithout an action, the list.\n\nActions:\n${lines.join('\n')}`)
      .positional('action', { type: 'string', describe: 'one of the actions above' })
      .positional('ids', {
        type: 'string',
        array: true,
        describe: 'issues (fetch: a bundle), by the start of their ids',
      })
      .option('store', storeOption)
      .option('release', {
        type: 'string',
        requiresArg: true,
        describe: 'resolve: the release that has the fix',
      })
      .option('all', { type: 'boolean', describe: 'List signals of deploys and snapshots too' })
      .option('limit', {
        type: 'string',
        requiresArg: true,
        describe: 'show: number of deaths',
        default: '20',
      })
      .option('output', outputOption('fetch: the file to write; default: in the current folder'))
      .option('json', jsonOption)
      .options(keyOptions);
  },
  handler: async (words) => {
    const action = readAction(words);
    await withStore(
      words.store,
      'store',
      (store) =>
        action ? action.act(store, words, (words.ids ?? []) as [string, ...string[]]) : list(store, words),
      { mustExist: true },
    );
  },
};
export default command;

/** Called before the store is opened. Throws `usage`. */
function readAction({ action: name, ids = [], release, output }: Words): Action | undefined {
  if (release !== undefined && name !== 'resolve')
    throw new AgentdumpError('usage', '--release is a word of `issues resolve`', { argument: 'release' });
  if (output !== undefined && name !== 'fetch')
    throw new AgentdumpError('usage', '--output is a word of `issues fetch`', { argument: 'output' });
  if (name === undefined) return undefined;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action)
    throw new AgentdumpError(
      'usage',
      `no action ${name}: ${Object.keys(actions).join(', ')}${meantText(name, Object.keys(actions))}`,
      {
        argument: 'action',
      },
    );
  if (ids.length < action.least || ids.length > action.most)
    throw new AgentdumpError('usage', `issues ${name} ${action.words}`, { argument: 'ids' });
  return action;
}

async function list(store: FleetStore, { json, all }: Words): Promise<void> {
  const issues = await store.list({ all: all ?? false });
  if (json) return printJson({ issues: issues.map(contractOf) }, 2);
  const outdated = await store.countOutdated();
  if (outdated > 0)
    note(`${formatCount(outdated, 'death')} grouped by older rules: agentdump issues reprocess`);
  if (!issues.length) return note(`no issue in ${store.place}`);
  print(renderIssueList(issues, await look()));
}

function contractOf({ kind: _, ...issue }: Issue): Omit<Issue, 'kind'> {
  return issue;
}

async function show(
  store: FleetStore,
  { json, limit = '20' }: Words,
  [id]: [string, ...string[]],
): Promise<void> {
  const issue = await store.show(id, { mostDeaths: readCountOption(limit, 'limit') });
  if (json) return printJson(issue, 2);
  print(renderIssue(issue, await look()));
}

function tell({ json }: Words, [issue = '']: readonly string[], state: string): void {
  if (json) printJson({ issue });
  else printForeign(`${issue.slice(0, 8)} ${state}`);
}

async function look() {
  const palette = stdoutWantsColour()
    ? (await import('../../output/terminal-palette.ts')).terminalPalette
    : undefined;
  return { columns: stdoutColumns(), ...(palette && { palette }) };
}
