/**
 * A death as a Sentry envelope: one event, with the account as an attachment. Sources: develop.sentry.dev, "Envelopes",
 * "Event Payloads", "Attachments" and "Authentication".
 */
import { createHash } from 'node:crypto';
import type { ErrorFacts } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import { version } from '../../version.ts';
import { agentAttributes, bundleAttributes, cutText, factsOfDeath, type ReportedDeath } from './facts.ts';

/** Sentry refuses envelopes with more than 100 MB of attachments; an account larger than this is left out. */
const mostAttachmentBytes = 10 * 1024 ** 2;
/** Sentry shortens stacks itself, but a recursion may be very long. */
const mostFrames = 100;
const mostCauses = 20;

export interface Envelope {
  body: string;
  /** Derived from the bundle, so that it remains one event however often it is sent. */
  eventId: string;
}

export function sentryEnvelope(death: ReportedDeath, nowMs: number): Envelope {
  const eventId = createHash('sha256').update(`agentdump ${death.bundle.id}`).digest('hex').slice(0, 32);
  const account = JSON.stringify(death.account);
  const isTooLarge = Buffer.byteLength(account) > mostAttachmentBytes;
  const items = [
    itemOf({ type: 'event' }, JSON.stringify(eventOf(death, eventId, isTooLarge))),
    ...(isTooLarge
      ? []
      : [
          itemOf({ type: 'attachment', filename: 'account.json', content_type: 'application/json' }, account),
        ]),
  ];
  const head = JSON.stringify({ event_id: eventId, sent_at: new Date(nowMs).toISOString() });
  return { body: [head, ...items, ''].join('\n'), eventId };
}

const itemOf = (head: object, payload: string): string =>
  `${JSON.stringify({ ...head, length: Buffer.byteLength(payload) })}\n${payload}`;

function eventOf(death: ReportedDeath, eventId: string, isTooLarge: boolean): object {
  const { account, atMs } = death;
  const { error, verdict, process, signature } = account;
  const facts = factsOfDeath(death);
  const title = cutText(verdict?.title ?? 'a death that nothing explains');
  return {
    event_id: eventId,
    timestamp: atMs / 1000,
    platform: 'node',
    level: 'fatal',
    logger: 'agentdump',
    server_name: facts.host,
    release: facts.release,
    environment: facts.environment,
    ...(signature && { fingerprint: [signature.id] }),
    ...(error ? { exception: { values: chainOf(error) } } : { logentry: { formatted: title } }),
    tags: {
      'agentdump.verdict': verdict?.kind,
      'agentdump.bundle': death.bundle.id,
    },
    contexts: {
      runtime: { name: 'node', version: process?.nodeVersion },
      ...(facts.traceId && { trace: { trace_id: facts.traceId, span_id: facts.traceId.slice(0, 16) } }),
      agentdump: {
        title,
        ...bundleAttributes(death),
        ...agentAttributes(facts),
        ...(isTooLarge && { account: 'too large for an attachment: it is in the bundle' }),
      },
    },
    sdk: { name: 'agentdump', version },
  };
}

/** Causes first: the exception that was thrown last is the last. */
function chainOf(error: ErrorFacts): object[] {
  const chain: object[] = [];
  for (let one: ErrorFacts | undefined = error; one && chain.length < mostCauses; one = one.cause)
    chain.push(exceptionOf(one, chain.length === 0));
  return chain.reverse();
}

function exceptionOf({ name, message, frames = [] }: ErrorFacts, isThrown: boolean): object {
  return {
    type: name ?? 'thrown value',
    value: cutText(message ?? ''),
    ...(isThrown && { mechanism: { type: 'agentdump', handled: false } }),
    ...(frames.length > 0 && { stacktrace: { frames: frames.slice(0, mostFrames).reverse().map(frameOf) } }),
  };
}

/** The innermost frame is the last. */
function frameOf({ function: called, file, line, column, inApp, source = [] }: Frame): object {
  const textsOf = (isWanted: (at: number) => boolean) =>
    source.filter((one) => isWanted(one.line)).map(({ text }) => cutText(text));
  const at = line ?? 0;
  const [context] = textsOf((one) => one === at);
  return {
    function: called,
    filename: file,
    abs_path: file,
    lineno: line,
    colno: column,
    in_app: inApp,
    ...(context !== undefined && {
      pre_context: textsOf((one) => one < at),
      context_line: context,
      post_context: textsOf((one) => one > at),
    }),
  };
}
