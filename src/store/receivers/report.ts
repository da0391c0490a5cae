/**
 * Tells receivers of the deaths whose bundles lie in a dump folder. By the process that sends, and never by the one that dies. Each
 * bundle once a receiver, by the list of what a folder has sent; what a receiver was away for is told by the next sender.
 */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { analyzeBundle } from '../../analysis/analyze.ts';
import type { ListedBundle } from '../../bundle/finished/list.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { traitsOf } from '../../model/verdict.ts';
import { noteFailure, noteSent, readOutbox } from '../outbox.ts';
import type { ReportedDeath } from './facts.ts';
import type { Receiver } from './receivers.ts';

const mostMs = 10_000;
/** What a receiver answers is read to this length. */
const mostAnswerChars = 2_000;

/**
 * Tells of what waits in a dump folder, the oldest first; deploys' signals and snapshots are not told. Ends at the first that the
 * receiver is away for, which is noted. Throws nothing.
 *
 * @param store where the bundles are sent to, for people.
 */
export async function report(dir: string, receiver: Receiver, store: string | undefined): Promise<void> {
  for (const bundle of readOutbox(dir, receiver.place).waiting) {
    try {
      const because = await tell(receiver, bundle, store);
      const outcome = because === undefined ? 'stored' : 'refused';
      noteSent(dir, receiver.place, {
        path: bundle.path,
        outcome,
        ...(because !== undefined && { because }),
      });
    } catch (error) {
      noteFailure(dir, receiver.place, error instanceof Error ? error.message : String(error));
      return;
    }
  }
}

/** Why it was not told and never will be. Throws where the receiver is away. */
async function tell(
  receiver: Receiver,
  bundle: ListedBundle,
  store: string | undefined,
): Promise<string | undefined> {
  const death = await readDeath(bundle, store);
  if (typeof death === 'string') return death;
  if (traitsOf(death.account.verdict?.kind ?? 'unknown').nature === 'asked') return undefined;
  const { url, headers, body } = receiver.request(death, Date.now());
  const { status, text } = await post(receiver, url, headers, body);
  if (status >= 200 && status <= 299) return receiver.refusal?.(text);
  const answer = `${receiver.name} answered ${status}${text ? `: ${text}` : ''}`;
  // What it can't read today it can't read tomorrow; too many at once, or a fault of its own, passes.
  if (status >= 400 && status <= 499 && ![401, 403, 407, 408, 425, 429].includes(status)) return answer;
  throw new AgentdumpError('unwritable', answer, { path: receiver.name, reason: `status ${status}` });
}

/** A sentence where the bundle tells nothing. */
async function readDeath(
  { path, name, at }: ListedBundle,
  store: string | undefined,
): Promise<ReportedDeath | string> {
  try {
    const bundle = openBundle(path);
    try {
      const account = await analyzeBundle(bundle, { contextLines: 5 });
      const { id, head } = bundle;
      const link = store === undefined ? pathToFileURL(path).href : `${store}, bundle ${id}`;
      const atMs = Date.parse(account.bundle?.capturedAt ?? at) || Date.now();
      return { account, bundle: { id, name: basename(name) }, atMs, program: head.program, link };
    } finally {
      bundle.close();
    }
  } catch (error) {
    return `it can't be read: ${error instanceof Error ? error.message : error}`;
  }
}

async function post(
  { name }: Receiver,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(mostMs);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
    return { status: response.status, text: await startOf(response) };
  } catch (error) {
    const { cause, name: kind } = error as { cause?: { code?: string; message?: string }; name?: string };
    const reason = cause?.code ?? cause?.message ?? kind ?? 'no answer';
    throw new AgentdumpError('unwritable', `${name} can't be reached: ${reason}`, { path: name, reason });
  }
}

/** However much a receiver sends. */
async function startOf({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= mostAnswerChars) break;
  }
  return text.slice(0, mostAnswerChars).replace(/\s+/g, ' ').trim();
}
