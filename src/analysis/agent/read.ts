/**
 * Reads the agent events of a bundle: the flight recorder's records, the events still in memory at the death, or both. Torn
 * and missing data becomes a gap.
 */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { ByOrigin } from '../../journal/layout/agent.ts';
import { findJson, readJournal } from '../../journal/read/reader.ts';
import type { AgentState } from '../../model/agent-state.ts';
import type { Gap } from '../../model/verdict.ts';
import { type AgentEvents, mergeAgentEvents, readAgentEventsPart, readAgentRecords } from './events.ts';
import { nameRuns } from './run-names.ts';
import { computeAgentState } from './timeline.ts';

/** The range of the journal's record kinds for agents (src/journal/layout/records.ts). */
const firstKind = 32;
const lastKind = 63;

export interface PartSource {
  readPart(name: string): Uint8Array | undefined;
  /** Decrypts the key of a sealed part; undefined without a matching identity. */
  unseal?(ageFile: Uint8Array): Uint8Array | undefined;
}

/** The events of a bundle; undefined if it contains none. Never throws. */
export function readAgentEvents(bundle: PartSource): { events?: AgentEvents; gaps: Gap[] } {
  const gaps: Gap[] = [];
  const recorded = readRecorded(bundle, gaps);
  const held = readHeld(bundle, gaps);
  const found = recorded && held ? mergeAgentEvents(recorded, held) : (recorded ?? held);
  if (!found) return { gaps };
  const events = nameRuns(found);
  const diedAt = events.isLastRecord ? witnessedEnd(bundle) : undefined;
  if (diedAt !== undefined && diedAt >= events.at) {
    events.at = diedAt;
    delete events.isLastRecord;
  }
  if (events.evicted)
    gaps.push({
      part: partNames.agentEvents,
      reason: `${events.evicted} agent events are no longer held: memory and disk for them are bounded`,
    });
  if (events.unreadable)
    gaps.push({ part: partNames.agentEvents, reason: `${events.unreadable} agent events could not be read` });
  gaps.push(...findUnreadReplies(events));
  return { events, gaps };
}

const mostNamed = 5;

/** Complete replies whose content was too large to keep, or could not be read. Calls with an error are reported elsewhere. */
function findUnreadReplies({ events }: AgentEvents): Gap[] {
  const unread = events.flatMap((event) => {
    if (event.kind !== 'model.end' || event.status !== 'finished' || event.error) return [];
    const reason = event.attributes?.['agentdump.reply.gap'];
    return typeof reason === 'string' ? [`call ${event.call}, ${event.bytes} bytes: ${reason}`] : [];
  });
  if (unread.length === 0) return [];
  const more = unread.length > mostNamed ? `, and ${unread.length - mostNamed} more` : '';
  const reason = `content of a model's reply is missing: ${unread.slice(0, mostNamed).join('; ')}${more}`;
  return [{ part: partNames.agentEvents, reason }];
}

/** What the agent was doing; undefined if nothing was recorded. `culprit`: the server's request or the test whose code died. */
export function readAgentState(
  bundle: PartSource,
  culprit: ByOrigin = {},
): { state?: AgentState; gaps: Gap[] } {
  const { events, gaps } = readAgentEvents(bundle);
  if (!events) return { gaps };
  return { state: computeAgentState({ ...events, culprit }), gaps };
}

/** The time of death, if the parent observed it: it records the end within moments. */
function witnessedEnd(bundle: PartSource): number | undefined {
  const bytes = bundle.readPart(partNames.evidence);
  if (!bytes) return undefined;
  try {
    const { foundBy, foundAt, endedAt, exit } = JSON.parse(Buffer.from(bytes).toString('utf8')) ?? {};
    const at = Date.parse(endedAt ?? foundAt);
    return foundBy === 'supervisor' && exit && !Number.isNaN(at) ? at : undefined;
  } catch {
    return undefined;
  }
}

function readRecorded(bundle: PartSource, gaps: Gap[]): AgentEvents | undefined {
  const bytes = bundle.readPart(partNames.journal);
  if (!bytes) return undefined;
  const values: unknown[] = [];
  let lastAt = 0;
  const reading = readJournal(bytes, (ageFile) => bundle.unseal?.(ageFile));
  for (const record of reading.records) {
    lastAt = Math.max(lastAt, record.atMs);
    if (record.sealed) continue;
    if (record.kind >= firstKind && record.kind <= lastKind) values.push(findJson(record));
  }
  if (reading.sealed)
    gaps.push({
      part: partNames.journal,
      reason: `${reading.sealed} records are sealed, and no key that was given opens them`,
      lookedFor: '--identity FILE or --passphrase-file FILE',
    });
  const broken = reading.gaps.filter(({ reason }) => reason === 'seal-broken').length;
  if (broken)
    gaps.push({
      part: partNames.journal,
      reason: `${broken} records are not what was sealed: they were altered or put in`,
    });
  return values.length ? readAgentRecords(values, lastAt) : undefined;
}

function readHeld(bundle: PartSource, gaps: Gap[]): AgentEvents | undefined {
  const bytes = bundle.readPart(partNames.agentEvents);
  if (!bytes) return undefined;
  try {
    return readAgentEventsPart(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    gaps.push({ part: partNames.agentEvents, reason: (error as Error).message });
    return undefined;
  }
}
