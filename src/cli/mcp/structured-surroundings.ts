/** The surroundings of a death, and the differences between two deaths, as data. */
import type { Account } from '../../model/account.ts';
import type { BundleDiff, DiffSide } from '../../model/diff.ts';
import { answerOf, integer, listOf, number, oneOf, record, text } from './output-schema.ts';

const limit = record({ name: text, soft: text, hard: text });

export const environmentSchema = answerOf(
  {
    variables: listOf(record({ name: text }, { value: text, withheld: text })),
    unusual: listOf(record({ fact: text, part: text, level: text })),
    limits: listOf(limit),
  },
  {
    process: record(
      {},
      {
        pid: integer,
        nodeVersion: text,
        platform: text,
        arch: text,
        cwd: text,
        argv: listOf(text),
        startedAt: text,
        uptimeMs: number,
        exit: record({}, { code: integer, signal: text }),
      },
    ),
    memory: record({}, { rssBytes: integer, heapUsedBytes: integer, heapLimitBytes: integer }),
    handles: listOf(record({ kind: text, count: integer }, { detail: text })),
  },
);

/** `wanted`: only variables whose lowercase name contains it. */
export function structuredEnvironment({ process, memory, environment }: Account, wanted: string): object {
  const { pid, nodeVersion, platform, arch, cwd, argv, startedAt, uptimeMs, exit } = process ?? {};
  const { variables = {}, unusual = [], handles } = environment ?? {};
  return {
    process: process && {
      ...{ pid, nodeVersion, platform, arch, cwd, argv, startedAt, uptimeMs },
      exit: exit && { code: exit.code, signal: exit.signal },
    },
    memory: memory && {
      rssBytes: memory.rssBytes,
      heapUsedBytes: memory.heapUsedBytes,
      heapLimitBytes: memory.heapLimitBytes,
    },
    unusual: unusual.map(({ fact, part, level }) => ({ fact, part, level })),
    limits: Object.entries(process?.limits ?? {}).map(([name, { soft, hard }]) => ({ name, soft, hard })),
    handles,
    variables: Object.entries(variables)
      .filter(([name]) => name.toLowerCase().includes(wanted))
      .map(([name, told]) => ({ name, ...told })),
  };
}

const side = record({ id: text }, { capturedAt: text, verdict: text, title: text, signature: text });
const said = record({ role: text, text });

export const diffSchema = answerOf(
  {
    before: side,
    after: side,
    leads: listOf(record({ fact: text, section: text, subject: text })),
    changes: listOf(
      record(
        {
          section: text,
          subject: text,
          change: oneOf('added', 'removed', 'changed', 'grew', 'shrank'),
        },
        { before: text, after: text, unit: oneOf('bytes', 'ms', 'count') },
      ),
    ),
    alike: listOf(text),
    notCompared: listOf(record({ section: text, reason: text })),
  },
  {
    sameSignature: { type: 'boolean' },
    fork: record({ index: integer }, { before: said, after: said }),
  },
);

export function structuredDiff(diff: BundleDiff): object {
  const [before] = diff.before;
  const told = (value: unknown) =>
    value === undefined ? undefined : Array.isArray(value) ? value.join(' | ') : String(value);
  return {
    before: sideOf(before ?? { id: '', path: '' }),
    after: sideOf(diff.after),
    sameSignature: diff.sameSignature,
    leads: diff.leads.map(({ fact, section, subject }) => ({ fact, section, subject })),
    changes: diff.changes.map(({ section, subject, change, before: was, after: is, unit }) => ({
      section,
      subject,
      change,
      before: told(was),
      after: told(is),
      unit,
    })),
    fork: diff.fork,
    alike: diff.alike,
    notCompared: diff.notCompared.map(({ section, reason }) => ({ section, reason })),
  };
}

const sideOf = ({ id, capturedAt, verdict, title, signature }: DiffSide) => ({
  id,
  capturedAt,
  verdict,
  title,
  signature,
});
