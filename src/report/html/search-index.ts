/**
 * Everything of an account that can be searched, with the anchor of its place. The texts are created at the first keystroke
 * and cached, so that each further one costs only a scan. Pure.
 */
import type { Account } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import { computeTimeline } from './figures/timeline.ts';
import { messageAnchor } from './sections/message-anchor.ts';

export interface SearchEntry {
  section: string;
  anchor: string;
  text: string;
}

export interface Found extends Pick<SearchEntry, 'section' | 'anchor'> {
  before: string;
  match: string;
  after: string;
}

let known: { account: Account; entries: SearchEntry[] } | undefined;

export function searchIndex(account: Account): SearchEntry[] {
  if (known?.account !== account) known = { account, entries: [...entriesOf(account)] };
  return known.entries;
}

/** The first `most` matches, ignoring case. */
export function findIn(entries: readonly SearchEntry[], query: string, most: number): Found[] {
  const pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu');
  const found: Found[] = [];
  for (const { section, anchor, text } of entries) {
    const match = pattern.exec(text);
    if (!match) continue;
    const end = match.index + match[0].length;
    found.push({
      section,
      anchor,
      before: `${match.index > 40 ? '…' : ''}${text.slice(Math.max(0, match.index - 40), match.index)}`,
      match: match[0],
      after: text.slice(end, end + 100),
    });
    if (found.length === most) break;
  }
  return found;
}

function* entriesOf(account: Account): Generator<SearchEntry> {
  const { verdict, error, threads, environment, modules, memory, gaps, bundle } = account;
  if (verdict) {
    yield {
      section: 'Verdict',
      anchor: 'verdict',
      text: `${verdict.title} ${verdict.kind} ${verdict.summary}`,
    };
    for (const { fact, part } of verdict.evidence)
      yield { section: 'Evidence', anchor: 'verdict', text: `${fact} ${part}` };
    for (const step of verdict.nextSteps) yield { section: 'Next', anchor: 'verdict', text: step };
  }
  if (error) yield { section: 'Error', anchor: 'stack', text: `${error.name ?? ''} ${error.message ?? ''}` };
  yield* framesOf(error?.frames, 'frame');
  for (const thread of threads ?? [])
    if (!(thread.crashed && error?.frames?.length))
      yield* framesOf(thread.frames, `thread-${thread.id}-frame`);
  for (const [n, { frames }] of (account.suspended ?? []).entries())
    yield* framesOf(frames, `waiting-${n + 1}-frame`);
  yield* agentEntries(account);
  for (const { fact } of environment?.unusual ?? [])
    yield { section: 'Unusual', anchor: 'unusual', text: fact };
  for (const { name } of memory?.classes ?? []) yield { section: 'Class', anchor: 'memory', text: name };
  for (const { title, sentence } of memory?.suspects ?? [])
    yield { section: 'Suspect', anchor: 'memory', text: `${title} ${sentence}` };
  for (const [name, value] of Object.entries(environment?.variables ?? {}))
    yield {
      section: 'Variable',
      anchor: 'environment-variables',
      text: `${name}=${'value' in value ? value.value : '(withheld)'}`,
    };
  for (const { kind, detail } of environment?.handles ?? [])
    yield { section: 'Handle', anchor: 'environment', text: `${kind} ${detail ?? ''}` };
  for (const { name, version, path, drift } of modules?.packages ?? [])
    yield { section: 'Package', anchor: 'modules', text: `${name} ${version ?? ''} ${path} ${drift ?? ''}` };
  for (const { path } of modules?.native ?? [])
    yield { section: 'Native module', anchor: 'modules', text: path };
  for (const { part, reason } of gaps) yield { section: 'Gap', anchor: 'gaps', text: `${part}: ${reason}` };
  for (const { name } of bundle?.parts ?? []) yield { section: 'Part', anchor: 'bundle', text: name };
}

function* framesOf(frames: readonly Frame[] | undefined, prefix: string): Generator<SearchEntry> {
  for (const [n, { function: name, file, line, locals, source, module }] of (frames ?? []).entries()) {
    const place = file === undefined ? (module ?? '') : `${file}:${line ?? ''}`;
    const values = (locals ?? []).map((local) => `${local.name} = ${local.value}`);
    const lines = (source ?? []).map(({ text }) => text.trim());
    yield {
      section: 'Frame',
      anchor: `${prefix}-${n + 1}`,
      text: [`${name ?? '(anonymous)'} ${place}`, ...values, ...lines].join('\n'),
    };
  }
}

function* agentEntries({ agent, bundle }: Account): Generator<SearchEntry> {
  if (!agent) return;
  for (const { anchor, kind, name, status, source } of computeTimeline(agent, bundle?.capturedAt)?.rows ??
    []) {
    // The source of a run contains all its rows, which are indexed individually.
    const text = kind === 'run' ? '' : (JSON.stringify(source) ?? '');
    yield { section: kind, anchor, text: `${name} ${status} ${text}` };
  }
  for (const [n, run] of agent.runs.entries())
    for (const [m, { role, content }] of run.messages.entries())
      yield {
        section: role,
        anchor: messageAnchor(n, m),
        text: typeof content === 'string' ? content : (JSON.stringify(content) ?? ''),
      };
  for (const [name, value] of Object.entries(agent.state ?? {}))
    yield { section: 'State', anchor: 'agent-state', text: `${name} ${JSON.stringify(value) ?? ''}` };
}
