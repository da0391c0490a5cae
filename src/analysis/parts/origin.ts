/** `origin.json`, field by field. */
import type { OriginFacts, RequestAccount } from '../../model/origin.ts';
import { defined, type Fields } from './fields.ts';

const kinds = ['request', 'run', 'step', 'tool', 'test'] as const;
const reasons = ['no-context', 'connection', 'recurring', 'not-followed'] as const;

export interface OriginPartFacts extends OriginFacts {
  requests: RequestAccount[];
}

export function readOrigin(part: Fields): OriginPartFacts {
  const chain = part.list('chain', readLink)?.flatMap((link) => link ?? []);
  const culprit = chain?.find(({ kind }) => kind === 'request')?.id;
  const trace = part.object('trace');
  const [traceId, spanId] = [trace?.text('traceId'), trace?.text('spanId')];
  return {
    requests: (part.list('requests', readRequest) ?? []).map((request) =>
      request.id !== '' && request.id === culprit ? { ...request, culprit: true } : request,
    ),
    ...defined({
      chain,
      lost: part.oneOf('lost', reasons),
      maker: part.text('maker'),
      trace: traceId !== undefined && spanId !== undefined ? { traceId, spanId } : undefined,
      inFlight: part.number('inFlight'),
      webSockets: part.number('webSockets'),
      http2Sessions: part.number('http2Sessions'),
    }),
  };
}

function readLink(link: Fields): NonNullable<OriginFacts['chain']>[number] | undefined {
  const kind = link.oneOf('kind', kinds);
  return (
    kind && { kind, ...defined({ id: link.text('id'), name: link.texts('name'), file: link.text('file') }) }
  );
}

export function readRequest(request: Fields): RequestAccount {
  const answered = request.object('answered');
  const connection = request.object('connection');
  return {
    id: request.text('id') ?? '',
    ...defined({
      protocol: request.text('protocol'),
      method: request.text('method'),
      path: request.text('path'),
      route: request.text('route'),
      ageMs: request.number('ageMs'),
      traceId: request.text('traceId'),
      parentSpanId: request.text('parentSpanId'),
      requestId: request.text('requestId'),
      status: request.number('status') ?? answered?.number('status'),
      answeredMsBefore: answered?.number('beforeMs'),
      connection:
        connection &&
        defined({
          bytesRead: connection.number('bytesRead'),
          bytesWritten: connection.number('bytesWritten'),
        }),
    }),
  };
}
