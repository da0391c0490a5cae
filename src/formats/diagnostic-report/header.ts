/** Process, time, cause and machine of the report. Fields are absent in older versions and on other platforms. */
import {
  asText,
  entriesIn,
  type Json,
  numberIn,
  objectIn,
  objectsIn,
  present,
  textIn,
  textsIn,
} from './lenient.ts';

export interface ReportHeader {
  reportVersion?: number;
  /** The cause: `JavaScript API`, `Allocation failed - JavaScript heap out of memory`, … */
  event?: string;
  trigger?: string;
  filename?: string;
  /** ISO 8601 in UTC. */
  writtenAt?: string;
  processId?: number;
  threadId?: number;
  /** Since Node 24 the event contains the worker's name. */
  threadName?: string;
  cwd?: string;
  commandLine: string[];
  nodeVersion?: string;
  platform?: string;
  arch?: string;
  wordSizeBits?: number;
  osName?: string;
  osRelease?: string;
  osVersion?: string;
  host?: string;
  glibcVersion?: string;
  componentVersions: Record<string, string>;
  cpuCount: number;
  cpuModel?: string;
}

export function readReportHeader(json: Json | undefined): ReportHeader {
  const cpus = objectsIn(json, 'cpus');
  const event = textIn(json, 'event');
  return {
    ...present({
      reportVersion: numberIn(json, 'reportVersion'),
      event,
      trigger: textIn(json, 'trigger'),
      filename: textIn(json, 'filename'),
      writtenAt: readTime(json),
      processId: numberIn(json, 'processId'),
      threadId: numberIn(json, 'threadId'),
      threadName: event && /^Worker thread subreport \[(.+)\]$/.exec(event)?.[1],
      cwd: textIn(json, 'cwd'),
      nodeVersion: textIn(json, 'nodejsVersion'),
      platform: textIn(json, 'platform'),
      arch: textIn(json, 'arch'),
      wordSizeBits: numberIn(json, 'wordSize'),
      osName: textIn(json, 'osName'),
      osRelease: textIn(json, 'osRelease'),
      osVersion: textIn(json, 'osVersion'),
      host: textIn(json, 'host'),
      glibcVersion: textIn(json, 'glibcVersionRuntime'),
      cpuModel: textIn(cpus[0], 'model'),
    }),
    commandLine: textsIn(json, 'commandLine'),
    componentVersions: entriesIn(objectIn(json, 'componentVersions'), asText),
    cpuCount: cpus.length,
  };
}

/** The timestamp is a string of milliseconds; the time in the next field has a precision of seconds only. */
function readTime(json: Json | undefined): string | undefined {
  const stamp = Number(textIn(json, 'dumpEventTimeStamp') ?? Number.NaN);
  const date = Number.isNaN(stamp) ? new Date(textIn(json, 'dumpEventTime') ?? Number.NaN) : new Date(stamp);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
