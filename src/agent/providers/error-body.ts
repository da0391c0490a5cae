/** The error bodies of the providers, which are nearly the same: `{error: {type, message, code}}`, or a plain message. */
import type { EventError } from '../../journal/layout/agent.ts';
import { compact, isObject, type JsonObject, stringOf } from '../calls/json.ts';
import type { ReplyBuilder } from '../calls/reply.ts';

/** If `body` is an error, adds it to the reply and returns true. */
export function readErrorBody(body: JsonObject, reply: ReplyBuilder): boolean {
  const error = body['error'];
  if (typeof error === 'string') reply.error = { message: error };
  else if (isObject(error)) reply.error = readError(error);
  else if (body['object'] === 'error' || (body['choices'] === undefined && isMessageOnly(body)))
    reply.error = readError(body);
  else return false;
  return true;
}

function isMessageOnly(body: JsonObject): boolean {
  return typeof body['message'] === 'string' && typeof body['content'] !== 'object' && !body['done_reason'];
}

export function readError(error: JsonObject): EventError {
  const code = error['code'];
  return compact({
    type: stringOf(error['type']) ?? stringOf(error['status']) ?? stringOf(error['__type']),
    message: stringOf(error['message']),
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
  }) as EventError;
}
