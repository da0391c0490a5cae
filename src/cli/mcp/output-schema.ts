/** Helpers for the JSON Schema of a tool's data. Objects are closed, so that a field without a schema fails a test. */

export type Schema = Record<string, unknown>;
export type ObjectSchema = Schema & { type: 'object' };

export const text: Schema = { type: 'string' };
export const integer: Schema = { type: 'integer' };
export const number: Schema = { type: 'number' };
export const flag: Schema = { type: 'boolean' };
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values });
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export function record(
  required: Record<string, Schema>,
  optional: Record<string, Schema> = {},
): ObjectSchema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** The whole answer of a tool, including how much `boundData` has cut. */
export function answerOf(
  required: Record<string, Schema>,
  optional: Record<string, Schema> = {},
): ObjectSchema {
  const leftOff = {
    type: 'integer',
    description: 'Members of lists that were left off to keep it short: ask for less at a time',
  };
  return record(required, { ...optional, leftOff });
}

/** A few lines of the source around a position. */
export const code = listOf(record({ line: integer, text }));
export const place = record({ file: text }, { line: integer, column: integer, function: text, code });
export const facts = listOf(record({ fact: text, part: text }));
