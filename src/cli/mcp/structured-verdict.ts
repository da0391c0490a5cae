/** The verdict as data: what an assistant can act on without parsing prose. */
import type { Account } from '../../model/account.ts';
import { shortFile } from '../../model/frame-text.ts';
import { findPlace } from '../../model/place.ts';
import { answerOf, facts, integer, listOf, oneOf, place, record, text } from './output-schema.ts';
import { codeOf } from './structured-stack.ts';

const confidence = oneOf('certain', 'likely', 'possible');

export const verdictSchema = answerOf(
  {
    kind: text,
    title: text,
    summary: text,
    confidence,
    evidence: facts,
    refutedBy: text,
    nextSteps: listOf(text),
    gaps: integer,
  },
  {
    bundle: text,
    place,
    alternatives: listOf(record({ kind: text, title: text, confidence })),
    beforeEnd: facts,
    notEnded: listOf(text),
    requested: listOf(text),
    requests: listOf(record({ name: text }, { route: text, ageMs: integer, culprit: { type: 'boolean' } })),
    signature: text,
  },
);

const mostFacts = 20;

export function structuredVerdict(account: Account): object {
  const { verdict, agent, gaps, process, bundle, requests, signature } = account;
  const runs = agent?.runs ?? [];
  const at = verdict?.place;
  return {
    bundle: bundle?.id,
    kind: verdict?.kind ?? 'unknown',
    title: verdict?.title ?? 'No verdict',
    summary: verdict?.summary ?? '',
    confidence: verdict?.confidence ?? 'possible',
    place: at && { ...at, file: shortFile(at.file, process?.cwd), code: codeOf(findPlace(account)) },
    evidence: (verdict?.evidence ?? []).slice(0, mostFacts),
    alternatives: verdict?.alternatives,
    beforeEnd: verdict?.beforeEnd,
    refutedBy: verdict?.refutedBy ?? '',
    nextSteps: verdict?.nextSteps ?? [],
    notEnded: runs.flatMap((run) => run.pending).slice(0, mostFacts),
    requested: runs.flatMap((run) => run.requested ?? []).slice(0, mostFacts),
    requests: requests?.slice(0, mostFacts).map((request) => ({
      name: `${request.method ?? ''} ${request.path ?? ''}`.trim(),
      route: request.route,
      ageMs: request.ageMs,
      culprit: request.culprit,
    })),
    signature: signature?.id,
    gaps: gaps.length,
  };
}
