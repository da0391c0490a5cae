/** Why deaths are one issue, in a sentence: the words of their signature. Pure. */
import type { IssueSignature } from '../model/fleet/issue.ts';
import { clip } from '../model/quantities.ts';

const longestPart = 160;

export function becauseOf(signatures: readonly Pick<IssueSignature, 'parts' | 'version'>[]): string {
  const [first, ...others] = signatures;
  if (!first) return 'nothing is left in it';
  const merged = others.length ? `; merged by hand with ${others.length} more` : '';
  return `${describe(first.parts)}${first.version > 0 ? ` (signature rules ${first.version})` : ''}${merged}`;
}

function describe(parts: readonly string[]): string {
  if (parts[0] === 'sealed')
    return 'encrypted, and not opened: same program and kind by the name of the file';
  if (parts[0] === 'unexplained') return 'same program, and nothing in the bundle says why it died';
  const read = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}:`)).map((part) => part.slice(name.length + 1));
  const frames = read('frame');
  const words = [
    ...read('kind').map((kind) => `same kind of death (${kind})`),
    ...read('signal').map((signal) => `signal ${signal}`),
    ...read('exit').map((code) => `exit code ${code}`),
    ...read('error').map((name) => `error ${name}`),
    ...read('code').map((code) => `code ${code}`),
    ...read('message').map((message) => `message "${message}"`),
    ...read('cause').map((cause) => `cause ${cause}`),
    ...read('waits').map((name) => `waiting ${name}`),
    ...read('loop').map((call) => `repeated call ${call}`),
    ...(frames.length ? [`stack ${frames.join(' < ')}`] : []),
    ...read('program').map((program) => `program ${program}`),
  ];
  return words.map((word) => clip(word, longestPart)).join(', ');
}
