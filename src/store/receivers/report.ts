/**
 * Reports the deaths of a dump folder to the receivers. Done by the sending process, never by the dying one. Each bundle is
 * reported once per receiver, according to the record of what the folder has sent; if a receiver is not available, the next
 * sender tries again.
 */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { analyzeBundle } from '../../analysis/analyze.ts';
import type { ListedBundle } from '../../bundle/finished/list.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { traitsOf } from '../../model/verdict.ts';
import { noteFailure, noteSent, readOutbox } from '../sending/outbox.ts';
import type { ReportedDeath } from './facts.ts';
import type { Receiver } from './receivers.ts';

const mostMs = 10_000;
/** The limit for the length of a response. */
const mostAnswerChars = 2_000;

/**
 * Reports the deaths that are waiting in a dump folder, the oldest first, except signals of a deploy and snapshots. Stops,
 * and records why, if the receiver is not available. Never throws.
 * @param store where the bundles are sent to, as shown to users.
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

/** Returns why it was refused for good. Throws if the receiver is not available. */
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
  // These refusals are permanent; too many requests, or a fault of the receiver, are temporary.
  if (status >= 400 && status <= 499 && ![401, 403, 407, 408, 425, 429].includes(status)) return answer;
  throw new AgentdumpError('unwritable', answer, { path: receiver.name, reason: `status ${status}` });
}

/** Returns a sentence if nothing can be reported about the bundle. */
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

/** Limits what is read of a response. */
async function startOf({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= mostAnswerChars) break;
  }
  return text.slice(0, mostAnswerChars).replace(/\s+/g, ' ').trim();
}
