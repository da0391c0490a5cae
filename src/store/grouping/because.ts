/** Explains in a sentence why deaths were grouped, from the words of their signature. Pure. */
import { minifiedPart } from '../../analysis/signature-frames.ts';
import type { IssueSignature } from '../../model/fleet/issue.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import { isSameStack } from './home.ts';

const longestPart = 160;

interface Joined extends Pick<IssueSignature, 'parts' | 'version'> {
  link: string;
}

export function becauseOf(signatures: readonly Joined[]): string {
  const [first, ...others] = signatures;
  if (!first) return 'nothing is left in it';
  const alike = others.filter(
    ({ parts, link }) => link === first.link && isSameStack(parts, first.parts),
  ).length;
  const byHand = others.length - alike;
  return [
    `${describe(first.parts)}${first.version > 0 ? ` (signature rules ${first.version})` : ''}`,
    ...(byHand > 0 ? [`merged by hand with ${byHand} more`] : []),
    ...(alike > 0
      ? [
          `with ${formatCount(alike, 'stack')} that ${alike === 1 ? 'tells' : 'tell'} more or less of the same callers`,
        ]
      : []),
  ].join('; ');
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
    ...(parts.includes(minifiedPart) ? ['minified code without a source map, which has lost its names'] : []),
    ...(frames.length ? [`stack ${frames.join(' < ')}`] : []),
    ...read('program').map((program) => `program ${program}`),
  ];
  return words.map((word) => clip(word, longestPart)).join(', ');
}
