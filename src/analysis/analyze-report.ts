/**
 * The account of a diagnostic report that Node wrote by itself, without a bundle around it: the report's sections take
 * the place of the parts. Its environment is not read: it is in the clear. What only a bundle has is a gap.
 */
import { basename } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import {
  type DiagnosticReport,
  readDiagnosticReport,
} from '../formats/diagnostic-report/diagnostic-report.ts';
import { readStackText } from '../formats/stack-text/stack-text.ts';
import type { Account } from '../model/account.ts';
import type { Frame, Thread } from '../model/thread.ts';
import { type AnalyzeOptions, makeAccount } from './analyze.ts';
import type { BundleParts } from './bundle-parts.ts';
import { defined } from './parts/fields.ts';
import type { TriggerFacts } from './parts/trigger.ts';

/** Throws MalformedInput for what is no JSON, and `not-a-bundle` for JSON that is no diagnostic report. */
export async function analyzeReport(
  bytes: Uint8Array,
  path: string,
  options: AnalyzeOptions = {},
): Promise<Account> {
  const report = readDiagnosticReport(bytes);
  const { reportVersion, nodeVersion, event } = report.header;
  if (reportVersion === undefined && nodeVersion === undefined)
    throw new AgentdumpError('not-a-bundle', `${path} is neither a bundle nor a diagnostic report`, {
      path,
      lookedFor: 'the header of a diagnostic report',
    });
  const name = basename(path);
  const about = {
    id: name,
    path,
    capturedAt: report.header.writtenAt ?? '',
    sealed: true,
    parts: [{ name, bytes: bytes.length, complete: true }],
  };
  const account = await makeAccount(
    {
      parts: partsOf(report),
      gaps: [{ part: name, reason: 'a report alone has no sources, no agent state and no packages' }],
      knownGaps: [],
      about,
      readPart: () => undefined,
      reportEvent: event,
    },
    options,
  );
  return fromOneFile(withNativeStack(account, report), name);
}

/** Whatever part of a bundle would have shown a fact, here the report did. */
function fromOneFile(account: Account, part: string): Account {
  const { verdict, environment, gaps } = account;
  const here = <T extends { part: string }>(facts: readonly T[]) => facts.map((fact) => ({ ...fact, part }));
  return {
    ...account,
    gaps: here(gaps),
    ...(verdict && { verdict: { ...verdict, evidence: here(verdict.evidence) } }),
    ...(environment && {
      environment: { ...environment, ...(environment.unusual && { unusual: here(environment.unusual) }) },
    }),
  };
}

function partsOf(report: DiagnosticReport): BundleParts {
  const { header, heap, usage, limits } = report;
  return {
    ...defined({ trigger: triggerOf(report), error: errorOf(report) }),
    process: {
      argv: header.commandLine,
      versions: { ...header.componentVersions, ...defined({ node: header.nodeVersion?.replace(/^v/, '') }) },
      limits,
      ...defined({
        pid: header.processId,
        threadId: header.threadId,
        cwd: header.cwd,
        platform: header.platform,
        arch: header.arch,
      }),
    },
    memory: {
      usage: defined({
        rss: usage?.rssBytes,
        heapUsed: heap?.usedBytes,
        external: heap?.externalBytes,
      }) as Record<string, number>,
      heap: defined({
        used_heap_size: heap?.usedBytes,
        heap_size_limit: heap?.limitBytes,
        number_of_detached_contexts: heap?.detachedContexts,
      }) as Record<string, number>,
    },
    handles: { resources: handleCounts(report) },
    environment: {
      os: defined({
        type: header.osName,
        release: header.osRelease,
        version: header.osVersion,
        cpus: header.cpuCount || undefined,
      }),
    },
    packages: [],
    nativeModules: [],
    threads: [],
    scripts: [],
    locals: [],
    workerStacks: [],
  };
}

/** Node's words for why it wrote the report: `trigger` of https://nodejs.org/api/report.html. */
function triggerOf({ header }: DiagnosticReport): TriggerFacts | undefined {
  const facts = defined({ at: header.writtenAt, pid: header.processId, nodeVersion: header.nodeVersion });
  if (header.trigger === 'Signal')
    return { kind: 'snapshot-signal', signal: { name: header.event ?? 'a signal' }, ...facts };
  if (header.trigger === 'Exception')
    return { kind: 'uncaught-exception', isMainThread: (header.threadId ?? 0) === 0, ...facts };
  if (header.trigger === 'API' || header.trigger === 'GetReport')
    return { kind: 'snapshot-call', reason: 'its code called process.report', ...facts };
  return undefined;
}

/** Only an exception's report has an error; other reports carry the stack of where they were asked for. */
function errorOf({ header, javascriptStack }: DiagnosticReport): BundleParts['error'] {
  if (header.trigger !== 'Exception' || !javascriptStack) return undefined;
  const { stackText } = javascriptStack;
  const { name: _, code, ...properties } = javascriptStack.properties;
  const { name, message } = readStackText(stackText);
  return {
    error: {
      type: 'object',
      isError: true,
      stack: stackText,
      ...defined({
        name,
        message: message ?? javascriptStack.message,
        code,
        properties: Object.keys(properties).length ? properties : undefined,
      }),
    },
  };
}

function handleCounts({ handles }: DiagnosticReport): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of handles) counts.set(type, (counts.get(type) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Frames of the native stack, as a thread of its own beside the JavaScript one. */
function withNativeStack(account: Account, { nativeStack }: DiagnosticReport): Account {
  if (!nativeStack.length) return account;
  const frames = nativeStack.map(
    ({ address, symbol, object }): Frame => ({
      inApp: false,
      trust: 'frame-pointer',
      address,
      ...defined({ function: symbol, module: object }),
    }),
  );
  const thread: Thread = { id: 'native', kind: 'native', crashed: false, frames };
  return { ...account, threads: [...(account.threads ?? []), thread] };
}
