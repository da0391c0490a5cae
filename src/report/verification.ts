/** The result of verification, for people: the answer, then the parts that were changed. */
import { formatBytes, formatCount } from '../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import type { Page } from './text/layout.ts';
import { renderTable } from './text/table.ts';

/** The format in which the bundle room verifies. */
export interface VerificationLines {
  id: string;
  path?: string;
  manifestSha256?: string;
  verdict: 'whole' | 'torn' | 'altered';
  parts: readonly { name: string; bytes: number; state: string; problem?: string }[];
  extra: readonly string[];
  ledgerProblem?: string;
  ledger?: LedgerLines & { entry: 'listed' | 'differs' | 'absent' };
  secrets?: {
    engine: string;
    independent: boolean;
    files: number;
    bytes: number;
    finds: readonly { part: string; rule: string; line: number; column: number }[];
    unsearched: readonly { part: string; reason: string }[];
  };
}

export interface LedgerLines {
  verdict: 'verified' | 'unanchored' | 'torn-tail' | 'tampered';
  tamperedAt?: number;
  problem?: string;
  records: number;
  anchored: number;
  head?: string;
}

type Secrets = NonNullable<VerificationLines['secrets']>;

const answers = {
  whole: 'Whole: every part is as it was sealed.',
  torn: 'Torn: the writer was stopped before the seal; what is there is as it was written.',
  altered: 'Altered: this is not what the writer sealed.',
} as const;

const nextSteps = {
  torn: '`agentdump analyze` reads what is there.',
  altered: 'Restore it from a copy or from the store; it can’t be trusted as it is.',
} as const;

/** Every part matches the manifest, but the ledger contains another manifest. */
const otherManifest = 'Altered: the ledger has this bundle with another manifest.';
const noManifest = 'Altered: the ledger has this bundle sealed, and its manifest is not here.';

export function renderVerification(
  { id, path, verdict, parts, extra, ledger, ledgerProblem, manifestSha256, secrets }: VerificationLines,
  { palette = plainPalette, columns = 100 }: { palette?: Palette; columns?: number } = {},
): string {
  const paint = { whole: palette.good, torn: palette.warn, altered: palette.bad }[verdict];
  const odd = parts.filter((part) => part.state !== 'whole');
  const rows = [
    ...odd.map(({ name, state, problem }) => [name, state, problem ?? '']),
    ...extra.map((name) => [name, 'extra', 'the manifest does not name it']),
  ].map((row) => row.map(escapeLine));
  const isOther = ledger?.entry === 'differs' && rows.length === 0;
  const answer = isOther ? (manifestSha256 === undefined ? noManifest : otherManifest) : answers[verdict];
  const lines = [
    paint(answer),
    palette.faint(
      `bundle ${escapeLine(id)}, ${formatCount(parts.length, 'part')}, ${parts.length - odd.length} whole`,
    ),
    ...(verdict === 'whole' || path === undefined ? [] : [palette.faint(`at ${escapeLine(path)}`)]),
    ...renderTable({ palette, columns }, ['part', 'state', ''], rows),
    ...(verdict === 'whole' ? [] : [palette.faint(nextSteps[verdict])]),
    ...(ledger ? renderLedgerVerdict(ledger, palette, ledger.entry) : []),
    ...(ledgerProblem === undefined
      ? []
      : [
          palette.bad(`Ledger: ${escapeLine(ledgerProblem)}, so that anchor and key prove nothing.`),
          palette.faint('Name it with --ledger FILE, or restore it from a copy.'),
        ]),
    ...(secrets ? renderSecrets(secrets, { palette, columns }) : []),
  ];
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}

const entries = {
  listed: 'This bundle is in it.',
  differs: 'It has this bundle with another manifest.',
  absent: 'This bundle is not in it.',
} as const;

const ofTampered =
  'Restore the ledger from a copy, or compare the bundles with a copy or the store: from that record on it vouches for none.';

/** `entry`: the state of this bundle in the ledger. */
export function renderLedgerVerdict(
  { verdict, problem, records, anchored, head, tamperedAt }: LedgerLines,
  palette: Palette,
  entry?: keyof typeof entries,
): string[] {
  const answer = {
    verified: palette.good(
      `Ledger: verified. The anchor proves ${anchored} of its ${formatCount(records, 'record')}.`,
    ),
    unanchored: palette.warn(
      'Ledger: consistent but unanchored; anyone who can write it could have rewritten it.',
    ),
    'torn-tail': palette.warn('Ledger: its last line is torn, what stands before it is consistent.'),
    tampered: palette.bad(`Ledger: tampered with at record ${tamperedAt}.`),
  }[verdict];
  const ofThis = entry && (entry === 'listed' ? entries.listed : palette.bad(entries[entry]));
  return [
    ofThis === undefined ? answer : `${answer} ${ofThis}`,
    ...(problem === undefined ? [] : [palette.faint(escapeLine(problem))]),
    ...(verdict === 'tampered' ? [palette.faint(ofTampered)] : []),
    ...(head === undefined
      ? []
      : [palette.faint(`its head, to keep elsewhere as an anchor: ${escapeLine(head)}`)]),
  ];
}

/** Names the engine that searched, and claims no more than it checked. */
function renderSecrets(
  { engine, independent, files, bytes, finds, unsearched }: Secrets,
  page: Page,
): string[] {
  const { palette } = page;
  const searched = `${formatCount(files, 'file')}, ${formatBytes(bytes)} searched by ${escapeLine(engine)}`;
  const answer = finds.length
    ? palette.bad(`Secrets: ${formatCount(finds.length, 'find')}. Don’t share this bundle.`)
    : palette.good('Secrets: none found.');
  const warning = [
    'secretlint is not installed, so this was no second opinion: `npm install @secretlint/core@11',
    '@secretlint/secretlint-rule-preset-recommend@11` for one.',
  ].join(' ');
  return [
    `${answer} ${palette.faint(searched)}`,
    ...(independent ? [] : [palette.warn(warning)]),
    ...renderTable(
      page,
      ['part', 'line:column', 'rule'],
      finds.map(({ part, rule, line, column }) => [part, `${line}:${column}`, rule].map(escapeLine)),
    ),
    ...unsearched.map(({ part, reason }) =>
      palette.warn(`not searched: ${escapeLine(part)} (${escapeLine(reason)})`),
    ),
  ];
}
