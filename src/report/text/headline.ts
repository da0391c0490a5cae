/** The first lines: what happened and when. The summary follows after the code, so that the place is seen first. */
import type { Account } from '../../model/account.ts';
import { uptimeText } from '../../model/quantities.ts';
import { traitsOf, type Verdict } from '../../model/verdict.ts';
import type { Paint } from '../palette.ts';
import { oneLine, type Page, wrap } from './layout.ts';

export function renderHeadline(account: Account, page: Page): string[] {
  const { palette } = page;
  const { verdict } = account;
  if (!verdict) return [palette.warn('? No verdict'), `  ${aboutLine(account)}`];
  return [
    paintOf(verdict, page)(`${marks[traitsOf(verdict.kind).nature]} ${oneLine(verdict.title)}`),
    `  ${palette.strong(verdict.kind)} ${palette.faint(`· ${verdict.confidence} · ${aboutLine(account)}`)}`,
  ];
}

export function renderSummary({ verdict }: Account, { columns }: Page): string[] {
  return verdict?.summary ? ['', ...wrap(verdict.summary, columns - 2).map((line) => `  ${line}`)] : [];
}

const marks = { death: '✖', asked: '■', unknown: '?' } as const;
const colours = { death: 'bad', asked: 'good', unknown: 'warn' } as const;

function paintOf({ kind }: Verdict, { palette }: Page): Paint {
  const colour = palette[colours[traitsOf(kind).nature]];
  return (text) => palette.strong(colour(text));
}

/** `2026-11-21 03:04:05 UTC · pid 4242 · node v22.1.0 · up 3 h`. */
function aboutLine({ bundle, process }: Account): string {
  return [
    bundle?.capturedAt && momentText(bundle.capturedAt),
    process?.pid !== undefined && `pid ${process.pid}`,
    process?.nodeVersion && `Node ${process.nodeVersion.replace(/^v/, '')}`,
    process && uptimeText(process),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** An ISO time in readable form; anything else unchanged. */
function momentText(iso: string): string {
  return oneLine(iso.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC'));
}
