/** Renders the result of a replay as text and as an exit code. */
import type { Signature } from '../model/account.ts';
import { renderDifferences } from './answers/compare.ts';
import type { Recording } from './recorded/recording.ts';
import { renderEffects } from './repeated-effects.ts';
import type { ReplayResult } from './replay.ts';

export type Expectation = 'same' | 'fixed';

const sentences: Record<ReplayResult['outcome'], (result: ReplayResult) => string> = {
  same: () => 'REPRODUCED: the same death',
  another: ({ title, exit }) =>
    `ANOTHER DEATH: ${title ?? `it ended with ${exit.signal ?? `exit code ${exit.code}`}`}`,
  none: () => 'NO DEATH: it ended well',
  past: () => 'NO DEATH: it went on past the point where it died',
  differs: () => 'DIVERGED: it asked for something else than then',
  held: () => 'HELD: it was stopped before an effect',
  stopped: () => 'STOPPED where it was asked to',
};

export function renderReplay(result: ReplayResult, { title, signature }: Recording): string {
  const lines = [
    sentences[result.outcome](result),
    `  recorded   ${title} (signature ${signature.id})`,
    `  answered   ${result.answered} of ${result.recorded} recorded model calls`,
  ];
  const { others } = result;
  if (others.recorded > 0)
    lines.push(`  answered   ${others.answered} of ${others.recorded} other recorded requests`);
  if (result.signature && result.outcome === 'another')
    lines.push(`  signature  ${result.signature.id}`, ...renderParts(signature, result.signature));
  for (const reason of result.refused) lines.push(`  refused    ${reason}`);
  lines.push(...renderEffects(result.effects));
  if (result.differences.length > 0) lines.push(renderDifferences(result.differences));
  return lines.join('\n');
}

/** The parts in which the two signatures differ. */
function renderParts(recorded: Signature, found: Signature): string[] {
  const without = (a: Signature, b: Signature, sign: string) =>
    a.parts.filter((part) => !b.parts.includes(part)).map((part) => `    ${sign} ${part}`);
  return [...without(recorded, found, '-'), ...without(found, recorded, '+')];
}

/** Whether the death no longer occurs. */
export function isFixed({ outcome }: ReplayResult): boolean {
  return outcome === 'none' || outcome === 'past';
}

export function exitCodeFor(result: ReplayResult, expect: Expectation = 'same'): 0 | 1 {
  if (result.outcome === 'stopped') return 0;
  return (expect === 'fixed' ? isFixed(result) : result.outcome === 'same') ? 0 : 1;
}
