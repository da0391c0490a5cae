/** The thrown value: full message, stack, own properties, causes and aggregate members. */
import type { Account, ErrorFacts } from '../../model/account.ts';
import { clip } from '../../model/quantities.ts';
import { foldLines } from './fit.ts';
import type { Page } from './layout.ts';
import { renderFrames } from './stack.ts';
import { renderValue } from './value.ts';

const maxMessageLines = 20;
const maxErrors = 12;
/** Clients attach requests, responses and whole classes to their errors, so depth and lines are limited. */
const valueDepth = 5;
const maxValueLines = 14;

export function renderError(account: Account, page: Page): string[] {
  const { error } = account;
  if (!error) return [];
  const cwd = account.process?.cwd;
  const budget = { left: maxErrors };
  const lines = renderOne(error, '', page, cwd, budget);
  if (budget.left <= 0) lines.push(page.palette.faint('… further errors are in --json'));
  return lines;
}

/** Depth first; the depth is that of the account, which analysis limits. */
function renderOne(
  error: ErrorFacts,
  label: string,
  page: Page,
  cwd: string | undefined,
  budget: { left: number },
): string[] {
  budget.left -= 1;
  if (budget.left < 0) return [];
  const lines = [...messageLines(error, label, page), ...renderFrames(error.frames ?? [], page, cwd)];
  const properties = Object.entries(error.properties ?? {});
  if (properties.length)
    lines.push(
      ...foldLines(renderValue(Object.fromEntries(properties), page, valueDepth), maxValueLines).map(
        (l) => `  ${l}`,
      ),
    );
  if (error.cause) lines.push('', ...renderOne(error.cause, 'Caused by ', page, cwd, budget));
  error.errors?.forEach((each, index) => {
    const inner = renderOne(each, `Error ${index + 1} of ${error.errors?.length}: `, page, cwd, budget);
    if (inner.length) lines.push('', ...inner.map((line) => `  ${line}`));
  });
  return lines;
}

function messageLines(error: ErrorFacts, label: string, { palette, columns }: Page): string[] {
  const name = error.name ?? '';
  const code = error.code && !error.message?.includes(error.code) ? ` [${error.code}]` : '';
  const [first = '', ...rest] = (error.message ?? '').split('\n');
  const head = `${label}${palette.strong(palette.bad(`${name}${code}`))}${name && first ? ': ' : ''}${clip(first, 4 * columns)}`;
  const cut =
    rest.length > maxMessageLines ? [palette.faint(`  … ${rest.length - maxMessageLines} more lines`)] : [];
  return [head, ...rest.slice(0, maxMessageLines).map((line) => `  ${clip(line, 2 * columns)}`), ...cut];
}
