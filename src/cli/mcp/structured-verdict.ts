/** The verdict as data: what an assistant can act on without reading prose, and its JSON Schema. */
import type { Account } from '../../model/account.ts';
import { shortFile } from '../../model/frame-text.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { mapStrings } from '../../report/map-strings.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const facts = {
  type: 'array',
  items: { type: 'object', properties: { fact: text, part: text }, required: ['fact', 'part'] },
};

export const verdictSchema = {
  type: 'object' as const,
  properties: {
    bundle: text,
    kind: text,
    title: text,
    summary: text,
    confidence: { type: 'string', enum: ['certain', 'likely', 'possible'] },
    place: {
      type: 'object',
      properties: { file: text, line: { type: 'integer' }, column: { type: 'integer' }, function: text },
      required: ['file'],
    },
    evidence: facts,
    beforeEnd: facts,
    refutedBy: text,
    nextSteps: texts,
    notEnded: texts,
    requested: texts,
    gaps: { type: 'integer' },
  },
  required: ['kind', 'title', 'confidence', 'evidence', 'nextSteps', 'gaps'],
};

const mostFacts = 20;

export function structuredVerdict(account: Account): Record<string, unknown> {
  const { verdict, agent, gaps, process, bundle } = account;
  const place = verdict?.place && {
    ...verdict.place,
    file: shortFile(verdict.place.file, process?.cwd),
  };
  const runs = agent?.runs ?? [];
  return mapStrings(
    {
      ...(bundle && { bundle: bundle.id }),
      kind: verdict?.kind ?? 'unknown',
      title: verdict?.title ?? 'No verdict',
      summary: verdict?.summary ?? '',
      confidence: verdict?.confidence ?? 'possible',
      ...(place && { place }),
      evidence: (verdict?.evidence ?? []).slice(0, mostFacts),
      beforeEnd: verdict?.beforeEnd ?? [],
      refutedBy: verdict?.refutedBy ?? '',
      nextSteps: verdict?.nextSteps ?? [],
      notEnded: runs.flatMap((run) => run.pending).slice(0, mostFacts),
      requested: runs.flatMap((run) => run.requested ?? []).slice(0, mostFacts),
      gaps: gaps.length,
    },
    escapeTerminal,
  );
}
