/** A recording in a separate file, as written by `--save-test` next to the test. */
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { type Recording, recordingSchema } from './recording.ts';

const needed = [
  'signature',
  'calls',
  'messages',
  'hosts',
  'environment',
  'withheld',
  'gaps',
  'argv',
] as const;

const lists = ['calls', 'hosts', 'withheld', 'gaps', 'argv'] as const;

/** These fields are displayed and used in file names. */
function hasTexts({ signature, title }: Partial<Recording>): boolean {
  return (
    typeof title === 'string' &&
    typeof signature?.id === 'string' &&
    Array.isArray(signature.parts) &&
    signature.parts.every((part) => typeof part === 'string')
  );
}

/** Throws `malformed-input`, or `unsupported-version` for a recording of a later release. */
export function parseRecording(text: string, path: string): Recording {
  let value: Partial<Recording>;
  try {
    value = JSON.parse(text) as Partial<Recording>;
  } catch (cause) {
    throw new MalformedInput(`${path} is no JSON`, { format: 'recording', field: 'text' }, cause);
  }
  const schema: unknown = value?.schema;
  if (typeof schema === 'string' && schema.startsWith('agentdump.recording/') && schema !== recordingSchema)
    throw new AgentdumpError('unsupported-version', `${path} is of a later release: ${schema}`, {
      path,
      schema,
    });
  const missing =
    needed.find((field) => typeof value?.[field] !== 'object' || value[field] === null) ??
    lists.find((field) => !Array.isArray(value[field])) ??
    (hasTexts(value) ? undefined : 'signature');
  if (schema !== recordingSchema || missing !== undefined)
    throw new MalformedInput(`${path} is no recording`, { format: 'recording', field: missing ?? 'schema' });
  // Recordings of earlier releases contain no other requests.
  return { http: [], ...value } as Recording;
}
