/** The requests that were being answered, and the one whose work died, which may have been answered before. */
import type { Account } from '../../model/account.ts';
import { type RequestAccount, requestName } from '../../model/origin.ts';
import { clip, formatBytes, formatCount, formatDuration } from '../../model/quantities.ts';
import { oneLine, type Page, wrap } from './layout.ts';

const maxRows = 12;
const longestName = 80;

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

/** `GET /orders/17 (route /orders/:id), for 1.2 s, 178 bytes in and 0 bytes out on its connection`. */
function requestText(request: RequestAccount): string {
  const { route, path, ageMs, answeredMsBefore, status, connection, requestId, traceId } = request;
  const isRouteNews = route !== undefined && route !== path?.split('?')[0];
  const answered = answeredMsBefore !== undefined;
  const facts = [
    `${clip(requestName(request), longestName)}${isRouteNews ? ` (route ${clip(route, longestName)})` : ''}`,
    answered &&
      `answered ${status === undefined ? '' : `${status} `}${formatDuration(answeredMsBefore)} before`,
    !answered && ageMs !== undefined && `for ${formatDuration(ageMs)}`,
    !answered && status !== undefined && `${status} sent`,
    !answered && connection && connectionText(connection),
    requestId !== undefined && `request id ${clip(requestId, longestName)}`,
    traceId !== undefined && `trace ${clip(traceId, longestName)}`,
  ];
  return facts.filter((fact) => typeof fact === 'string').join(', ');
}

/** Others may have been answered on it before. */
function connectionText({
  bytesRead = 0,
  bytesWritten = 0,
}: NonNullable<RequestAccount['connection']>): string {
  return `${formatBytes(bytesRead)} in and ${formatBytes(bytesWritten)} out on its connection`;
}
