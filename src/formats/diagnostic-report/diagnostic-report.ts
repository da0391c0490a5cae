/**
 * Node's diagnostic report (`process.report`, `--report-…`), versions 1 to 5, whole or in part. Every section may be missing;
 * values of an unexpected type are treated as missing. Deliberately omits the environment: a raw report contains it in clear
 * text, and a bundle contains it redacted in another part. Sections: header, stacks, resources, handles. Source:
 * https://nodejs.org/api/report.html, and reports of Node 20, 22, 24 and 26.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { type ReportHandle, readHandles } from './handles.ts';
import { type ReportHeader, readReportHeader } from './header.ts';
import { isObject, type Json, numberIn, objectIn, objectsIn, textsIn } from './lenient.ts';
import {
  type ReportHeap,
  type ReportUsage,
  readReportHeap,
  readReportUsage,
  readUserLimits,
} from './resources.ts';
import { type ReportNativeFrame, type ReportStack, readNativeStack, readReportStack } from './stacks.ts';

export interface DiagnosticReport {
  header: ReportHeader;
  javascriptStack?: ReportStack;
  nativeStack: ReportNativeFrame[];
  heap?: ReportHeap;
  usage?: ReportUsage;
  /** Resource usage of the thread that wrote the report. */
  threadUsage?: ReportUsage;
  handles: ReportHandle[];
  /** Seconds that the event loop was idle since its start. */
  loopIdleSeconds?: number;
  sharedObjects: string[];
  limits: Record<string, { soft: string; hard: string }>;
  /** One report per worker thread. */
  workers: DiagnosticReport[];
}

const largestReportBytes = 128 * 1024 * 1024;
const mostWorkers = 1000;

/** Parses the JSON of a report. Throws MalformedInput if it is not a JSON object, `over-limit` if it is too large. */
export function readDiagnosticReport(bytes: Uint8Array | string): DiagnosticReport {
  if (bytes.length > largestReportBytes)
    throw new AgentdumpError(
      'over-limit',
      `diagnostic report: ${bytes.length} bytes are more than the limit`,
      {
        limit: 'diagnostic report',
        wanted: bytes.length,
        allowed: largestReportBytes,
      },
    );
  const text =
    typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return readReportValue(parse(text.replace(/^\uFEFF/, '')));
}

/** Like readDiagnosticReport, for parsed JSON. */
export function readReportValue(value: unknown): DiagnosticReport {
  if (!isObject(value)) throw malformed('an object');
  let room = mostWorkers;
  const root = readOne(value);
  const queue = [{ json: value, report: root }];
  for (let item = queue.pop(); item; item = queue.pop())
    for (const json of objectsIn(item.json, 'workers')) {
      if (--room < 0) return root;
      const report = readOne(json);
      item.report.workers.push(report);
      queue.push({ json, report });
    }
  return root;
}

function readOne(json: Json): DiagnosticReport {
  const handles = objectsIn(json, 'libuv');
  const javascriptStack = readReportStack(objectIn(json, 'javascriptStack'));
  const heap = readReportHeap(objectIn(json, 'javascriptHeap'));
  const usage = readReportUsage(objectIn(json, 'resourceUsage'));
  const threadUsage = readReportUsage(objectIn(json, 'uvthreadResourceUsage'));
  const loop = handles.find((handle) => handle['type'] === 'loop');
  const loopIdleSeconds = numberIn(loop, 'loopIdleTimeSeconds');
  return {
    header: readReportHeader(objectIn(json, 'header')),
    ...(javascriptStack ? { javascriptStack } : {}),
    nativeStack: readNativeStack(objectsIn(json, 'nativeStack')),
    ...(heap ? { heap } : {}),
    ...(usage ? { usage } : {}),
    ...(threadUsage ? { threadUsage } : {}),
    handles: readHandles(handles),
    ...(loopIdleSeconds === undefined ? {} : { loopIdleSeconds }),
    sharedObjects: textsIn(json, 'sharedObjects'),
    limits: readUserLimits(objectIn(json, 'userLimits')),
    workers: [],
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed('JSON', cause);
  }
}

function malformed(wanted: string, cause?: unknown): MalformedInput {
  return new MalformedInput(
    `diagnostic report: it is not ${wanted}`,
    { format: 'diagnostic-report', field: 'report', wanted },
    cause,
  );
}
