/**
 * The account of a diagnostic report that Node wrote without a bundle: the sections of the report replace the parts.
 * Environment variables are not read, since the report contains them unredacted. Whatever only a bundle contains is a gap.
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
import { citeInstead, surroundingsOfReport } from './report-surroundings.ts';

/** Throws MalformedInput if it is not JSON, and `not-a-bundle` if it is JSON but not a diagnostic report. */
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
  const whole = withNativeStack(account, report);
  // All facts come from the report, whatever part of a bundle they would be in.
  const shown = citeInstead(whole, () => true, name);
  return { ...shown, gaps: shown.gaps.map((gap) => ({ ...gap, part: name })) };
}

function partsOf(report: DiagnosticReport): BundleParts {
  return {
    ...defined({ trigger: triggerOf(report), error: errorOf(report) }),
    ...surroundingsOfReport(report),
    packages: [],
    nativeModules: [],
    threads: [],
    scripts: [],
    locals: [],
    workerStacks: [],
  };
}

/** Node's reason for writing the report: `trigger` of https://nodejs.org/api/report.html. */
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

/** Only the report of an exception has an error; other reports contain the stack of the call that requested them. */
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

/** Adds the frames of the native stack as a separate thread. */
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
