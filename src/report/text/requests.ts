/** The requests that were being processed, and the one whose work died, which may have been answered before. */
import type { Account } from '../../model/account.ts';
import { requestText } from '../../model/origin.ts';
import { formatCount } from '../../model/quantities.ts';
import { oneLine, type Page, wrap } from './layout.ts';

const maxRows = 12;

export function renderRequests({ requests = [] }: Account, page: Page): string[] {
  const { palette } = page;
  const rows = requests.slice(0, maxRows).flatMap((request) => {
    const mark = request.culprit ? '● ' : '  ';
    const [first = '', ...rest] = wrap(oneLine(requestText(request)), page.columns - 2, mark);
    return [request.culprit ? palette.bad(first) : first, ...rest];
  });
  const more = requests.length - maxRows;
  return more > 0 ? [...rows, palette.faint(`… ${formatCount(more, 'more request')}, see --json`)] : rows;
}
