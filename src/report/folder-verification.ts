/**
 * The result of verifying a dump folder, for people: the answer, then each bundle that differs from the ledger, and what to
 * do.
 */

import { formatCount } from '../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import { type LedgerLines, renderLedgerVerdict } from './verification.ts';

/** The format in which the bundle room verifies a folder. */
export interface FolderVerificationLines {
  path: string;
  verdict: 'whole' | 'not-whole' | 'unknown';
  known: number;
  bundles: readonly { state: PlacedState; name?: string; id?: string; problem?: string }[];
  ledger?: LedgerLines;
  ledgerProblem?: string;
}

type PlacedState =
  | 'whole'
  | 'copy'
  | 'removed'
  | 'torn'
  | 'gone'
  | 'renamed'
  | 'swapped'
  | 'incomplete'
  | 'altered'
  | 'unlisted'
  | 'locked'
  | 'unreadable';

const backup = 'Restore it from a copy or from the store; it can’t be trusted as it is.';

/** What to do about it; undefined for states that are as expected. */
const nextSteps: Record<PlacedState, string | undefined> = {
  whole: undefined,
  copy: undefined,
  removed: undefined,
  torn: undefined,
  gone: 'Restore it from a copy or from the store, or find out who deleted it: `agentdump prune` would have noted it in the ledger.',
  renamed: 'Give it its name again.',
  swapped: 'Give each of them its own name again, and compare with a copy: somebody exchanged them.',
  incomplete: 'Restore what is missing from a copy; what is here is as it was sealed.',
  altered: backup,
  unlisted:
    'Keep bundles from elsewhere in a folder of their own; if it was written here, the ledger was exchanged.',
  locked: 'Name its key: --identity FILE or --passphrase-file FILE.',
  unreadable: backup,
};

const ofNoLedger =
  'Name it with --ledger FILE, or restore it from a copy; `agentdump list` tells which bundles are here.';

/** In the order in which they are printed. */
const quiet: [PlacedState, string][] = [
  ['whole', 'whole'],
  ['copy', 'a copy of one that is whole'],
  ['removed', 'removed by retention, as the ledger notes'],
  ['torn', 'never sealed, so that no ledger has it'],
];

export function renderFolderVerification(
  found: FolderVerificationLines,
  { palette = plainPalette }: { palette?: Palette } = {},
): string {
  const counts = quiet
    .map(([state, words]) => [found.bundles.filter((one) => one.state === state).length, words] as const)
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`);
  const lines = [
    headlineOf(found, palette),
    palette.faint([`folder ${escapeLine(found.path)}`, ...counts].join(', ')),
    ...found.bundles.flatMap((one) => renderOdd(one, palette)),
    ...(found.ledger ? renderLedgerVerdict(found.ledger, palette) : []),
    ...(found.ledgerProblem === undefined
      ? []
      : [palette.warn(`Ledger: ${escapeLine(found.ledgerProblem)}.`), palette.faint(ofNoLedger)]),
  ];
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}

function headlineOf({ verdict, known, bundles, ledger }: FolderVerificationLines, palette: Palette): string {
  const odd = bundles.filter(({ state }) => nextSteps[state] !== undefined).length;
  if (verdict === 'whole')
    return palette.good(
      `Whole: ${formatCount(known, 'bundle')} in the ledger, each here under its name and as it was sealed, or removed by retention.`,
    );
  if (verdict === 'not-whole')
    return palette.bad(`Not whole: ${formatCount(odd, 'bundle')} of this folder not as the ledger says.`);
  const why = ledger ? 'its ledger can’t be trusted' : 'it has no ledger';
  const rest = odd ? `, and ${formatCount(odd, 'bundle')} not as sealed` : '';
  return palette.bad(`Not known: which bundles this folder held can’t be told, ${why}${rest}.`);
}

function renderOdd(
  { state, name, id, problem }: FolderVerificationLines['bundles'][number],
  palette: Palette,
): string[] {
  const next = nextSteps[state];
  if (next === undefined) return [];
  const what = name ?? `bundle ${id}`;
  return [
    `${palette.bad(state)}: ${escapeLine(what)}${problem === undefined ? '' : `: ${escapeLine(problem)}`}`,
    palette.faint(`  ${next}`),
  ];
}
