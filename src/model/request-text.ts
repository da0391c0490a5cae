/** One request that was being answered, as a line: the same in the terminal, in Markdown and on the page. Pure. */
import { type RequestAccount, requestName } from './origin.ts';
import { clip, formatBytes, formatDuration } from './quantities.ts';

const longestName = 80;

/** `GET /orders/17 (route /orders/:id), for 1.2 s, 178 bytes in and 0 bytes out on its connection`. */
export function requestText(request: RequestAccount): string {
  const { route, path } = request;
  const isRouteNews = route !== undefined && route !== path?.split('?')[0];
  const name = `${clip(requestName(request), longestName)}${isRouteNews ? ` (route ${clip(route, longestName)})` : ''}`;
  return [name, ...requestFacts(request)].join(', ');
}

/** All but its name and route. */
function requestFacts(request: RequestAccount): string[] {
  const { ageMs, answeredMsBefore, status, connection, requestId, traceId } = request;
  const answered = answeredMsBefore !== undefined;
  const facts = [
    answered &&
      `answered ${status === undefined ? '' : `${status} `}${formatDuration(answeredMsBefore)} before`,
    !answered && ageMs !== undefined && `for ${formatDuration(ageMs)}`,
    !answered && status !== undefined && `${status} sent`,
    !answered && connection && connectionText(connection),
    requestId !== undefined && `request id ${clip(requestId, longestName)}`,
    traceId !== undefined && `trace ${clip(traceId, longestName)}`,
  ];
  return facts.filter((fact) => typeof fact === 'string');
}

/** Others may have been answered on it before. */
function connectionText({
  bytesRead = 0,
  bytesWritten = 0,
}: NonNullable<RequestAccount['connection']>): string {
  return `${formatBytes(bytesRead)} in and ${formatBytes(bytesWritten)} out on its connection`;
}
