/** Questions about a death as a whole: which bundles there are, the verdict, the stack, the surroundings, what is missing. */
import { computeDiff } from '../../analysis/diff/diff.ts';
import type { Account } from '../../model/account.ts';
import { frameText } from '../../model/frame-text.ts';
import { formatBytes } from '../../model/quantities.ts';
import { renderDiff } from '../../report/diff/text.ts';
import { plainPalette } from '../../report/palette.ts';
import { renderError } from '../../report/text/error.ts';
import { renderHeadline, renderSummary } from '../../report/text/headline.ts';
import { type Page, section } from '../../report/text/layout.ts';
import { renderCodeFrame, renderPlace, renderStack } from '../../report/text/stack.ts';
import { renderHandles, renderProcess, renderUnusual } from '../../report/text/surroundings.ts';
import { renderText } from '../../report/text.ts';
import { answerOf, integer, listOf, record, text } from './output-schema.ts';
import { sourceSchema, stackSchema, structuredSource, structuredStack } from './structured-stack.ts';
import {
  diffSchema,
  environmentSchema,
  structuredDiff,
  structuredEnvironment,
} from './structured-surroundings.ts';
import { structuredVerdict, verdictSchema } from './structured-verdict.ts';
import { bundleField, bundleOf, countOf, type Tool, textOf } from './tool.ts';

export const page: Page = { palette: plainPalette, columns: 110 };

const listTool: Tool = {
  name: 'list_bundles',
  title: 'Crash bundles here',
  description: 'The crash bundles that can be read, newest first: name, time, program, how it died, size.',
  input: {
    fields: { limit: { type: 'integer', description: 'How many', minimum: 1, maximum: 200, default: 20 } },
  },
  async answer(words, allowed) {
    const bundles = allowed.list();
    const shown = bundles.slice(0, countOf(words, 'limit', 20));
    const lines = shown.map(({ name, state, verdictKind, program, bytes, problem }) =>
      [name, state, program, verdictKind, formatBytes(bytes), problem].filter(Boolean).join('  '),
    );
    const older = bundles.length - shown.length;
    return {
      text: [...lines, ...(older ? [`… and ${older} older`] : [])].join('\n') || 'no bundle is here',
      data: {
        older,
        bundles: shown.map(({ name, state, at, program, verdictKind, bytes, problem }) => ({
          name,
          state,
          at,
          program,
          kind: verdictKind,
          bytes,
          problem,
        })),
      },
    };
  },
  output: answerOf({
    older: integer,
    bundles: listOf(
      record(
        { name: text, state: text, at: text, bytes: integer },
        { program: text, kind: text, problem: text },
      ),
    ),
  }),
};

const analyzeTool: Tool = {
  name: 'analyze',
  title: 'Why it died',
  description:
    'The verdict: what happened, the evidence with the part that shows it, confidence, what would refute it, next steps. Start here.',
  input: {
    fields: {
      bundle: bundleField,
      detail: {
        type: 'string',
        description: 'short: verdict and evidence; full: the whole account',
        enum: ['short', 'full'],
        default: 'short',
      },
    },
  },
  async answer(words, allowed) {
    const account = await allowed.account(bundleOf(words));
    return {
      text: textOf(words, 'detail') === 'full' ? renderText(account, page) : shortAccount(account),
      data: structuredVerdict(account),
    };
  },
  output: verdictSchema,
};

function shortAccount(account: Account): string {
  const { verdict, signature, gaps, agent } = account;
  const pending = agent?.runs.flatMap((run) => run.pending) ?? [];
  const requested = agent?.runs.flatMap((run) => run.requested ?? []) ?? [];
  const lines = [
    ...renderHeadline(account, page),
    ...(verdict?.place ? [`  at ${frameText(verdict.place, account.process?.cwd)}`] : []),
    ...renderPlace(account, page),
    ...renderSummary(account, page),
    ...section(page, 'Evidence', verdict?.evidence.map(({ fact, part }) => `- ${fact} (${part})`) ?? []),
    ...section(
      page,
      'Also possible',
      verdict?.alternatives?.map(({ kind, title, confidence }) => `- ${confidence}: ${kind}. ${title}`) ?? [],
    ),
    ...section(page, 'Next steps', verdict?.nextSteps.map((step, index) => `${index + 1}. ${step}`) ?? []),
    ...section(
      page,
      'Before the end',
      verdict?.beforeEnd?.map(({ fact, part }) => `- ${fact} (${part})`) ?? [],
    ),
    ...section(page, 'Begun and not ended', pending.slice(0, 8)),
    ...section(page, 'Requested by the model', requested.slice(0, 8)),
    ...section(page, 'Unusual', renderUnusual(account, page).slice(0, 8)),
    '',
    verdict ? `Refuted by: ${verdict.refutedBy}` : '',
    signature ? `Signature ${signature.id}: the same fault has the same one.` : '',
    gaps.length ? `${gaps.length} gaps: ask for gaps.` : 'No gaps.',
  ];
  return lines.join('\n');
}

const stackTool: Tool = {
  name: 'stack',
  title: 'The stack with its code',
  description:
    'The error with its causes and source-mapped frames, the code around the culprit, locals where recorded.',
  input: { fields: { bundle: bundleField } },
  async answer(words, allowed) {
    const account = await allowed.account(bundleOf(words));
    const lines = [
      ...renderPlace(account, page),
      '',
      ...renderError(account, page),
      ...section(page, 'Threads', renderStack(account, page)),
    ];
    return {
      text: lines.join('\n').trim() || 'the bundle holds no stack',
      data: structuredStack(account),
    };
  },
  output: stackSchema,
};

const sourceTool: Tool = {
  name: 'source',
  title: 'Code of a frame',
  description:
    'The source lines around a frame of the stack, as they ran. Only files that were on the stack are in a bundle.',
  input: {
    fields: {
      bundle: bundleField,
      file: {
        type: 'string',
        description: 'End of the file name; all frames with source without it',
        maxLength: 1000,
      },
    },
  },
  async answer(words, allowed) {
    const account = await allowed.account(bundleOf(words));
    const file = textOf(words, 'file') ?? '';
    const frames = [
      ...(account.error?.frames ?? []),
      ...(account.threads ?? []).flatMap((thread) => thread.frames),
    ];
    const found = frames.filter((frame) => frame.source?.length && (!file || frame.file?.endsWith(file)));
    const blocks = new Set(
      found.map((frame) => renderCodeFrame(frame, page, account.process?.cwd).join('\n')),
    );
    return {
      text: [...blocks].join('\n\n') || 'no frame of the stack has source there',
      data: structuredSource(found, account.process?.cwd),
    };
  },
  output: sourceSchema,
};

const environmentTool: Tool = {
  name: 'environment',
  title: 'Surroundings of the death',
  description:
    'Process, limits, Node, what is unusual, open handles, and the environment variables (secrets are withheld).',
  input: {
    fields: {
      bundle: bundleField,
      name: { type: 'string', description: 'Only variables whose name contains this', maxLength: 200 },
    },
  },
  async answer(words, allowed) {
    const account = await allowed.account(bundleOf(words));
    const wanted = textOf(words, 'name')?.toLowerCase() ?? '';
    const variables = Object.entries(account.environment?.variables ?? {})
      .filter(([name]) => name.toLowerCase().includes(wanted))
      .map(
        ([name, value]) => `${name}=${'withheld' in value ? `(withheld: ${value.withheld})` : value.value}`,
      );
    const data = structuredEnvironment(account, wanted);
    if (wanted) return { text: variables.join('\n') || 'no variable has such a name', data };
    const limits = Object.entries(account.process?.limits ?? {}).map(
      ([name, { soft, hard }]) => `${name}: ${soft} (hard ${hard})`,
    );
    const lines = [
      ...section(page, 'Process', renderProcess(account, page)),
      ...section(page, 'Unusual', renderUnusual(account, page)),
      ...section(page, 'Handles', renderHandles(account, page)),
      ...section(page, 'Limits', limits),
      ...section(page, 'Variables', variables),
    ];
    return { text: lines.join('\n'), data };
  },
  output: environmentSchema,
};

const gapsTool: Tool = {
  name: 'gaps',
  title: 'What is missing',
  description: 'What the bundle does not tell, and why: absent, torn, withheld or over a limit.',
  input: { fields: { bundle: bundleField } },
  async answer(words, allowed) {
    const { gaps } = await allowed.account(bundleOf(words));
    const lines = gaps.map(
      ({ part, reason, lookedFor }) => `${part}: ${reason}${lookedFor ? ` (${lookedFor})` : ''}`,
    );
    return { text: lines.join('\n') || 'no gaps', data: { gaps } };
  },
  output: answerOf({ gaps: listOf(record({ part: text, reason: text }, { lookedFor: text })) }),
};

const diffTool: Tool = {
  name: 'diff',
  title: 'Two deaths compared',
  description:
    'What differs between two bundles: packages, Node, environment, limits, memory, stack, where conversations part.',
  input: {
    fields: {
      before: { ...bundleField, description: 'The earlier bundle' },
      after: { ...bundleField, description: 'The later bundle' },
    },
    required: ['before'],
  },
  async answer(words, allowed) {
    const before = await allowed.account(textOf(words, 'before') ?? 'latest');
    const after = await allowed.account(textOf(words, 'after') ?? 'latest');
    const diff = computeDiff([before], after);
    return { text: renderDiff(diff, page), data: structuredDiff(diff) };
  },
  output: diffSchema,
};

export const accountTools: readonly Tool[] = [
  listTool,
  analyzeTool,
  stackTool,
  sourceTool,
  environmentTool,
  gapsTool,
  diffTool,
];
