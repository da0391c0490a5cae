/**
 * Differences that are known to matter: a changed package on the stack of the death, another version of Node, a lowered
 * limit, a variable named in the message. One small rule each, which states what was observed.
 */
import type { Account } from '../../model/account.ts';
import type { ConversationFork, DiffChange, DiffLead } from '../../model/diff.ts';
import { formatBytes } from '../../model/quantities.ts';
import { stackOfDeath } from './frames.ts';

export interface LeadInput {
  after: Account;
  changes: readonly DiffChange[];
  fork?: ConversationFork | undefined;
}

type Rule = (input: LeadInput) => DiffLead[];

const onStack: Rule = ({ after, changes }) => {
  const files = stackOfDeath(after)?.frames.flatMap(({ file }) => file ?? []) ?? [];
  return changes
    .filter(
      ({ section, subject }) =>
        section === 'packages' && files.some((file) => file.includes(`node_modules/${subject}/`)),
    )
    .map((change) => lead(change, `${change.subject} is on the stack of the death, and ${moved(change)}.`));
};

/** A package or variable whose name is in the error message. */
const namedInError: Rule = ({ after, changes }) => {
  const text = `${after.error?.message ?? ''}\n${after.error?.cause?.message ?? ''}`;
  return changes
    .filter(({ section }) => section === 'packages' || section === 'environment' || section === 'config')
    .filter(({ subject }) => subject.length > 3 && mentions(text, subject))
    .map((change) => lead(change, `The error names ${change.subject}, which ${moved(change)}.`));
};

const otherNode: Rule = ({ changes }) =>
  changes
    .filter(({ section, subject }) => section === 'node' && subject === 'version')
    .filter(({ before, after }) => majorOf(before) !== majorOf(after))
    .map((change) => lead(change, `Node is another major version: it ${moved(change)}.`));

const lowered: Rule = ({ changes }) =>
  changes
    .filter(({ section, before, after }) => section === 'limits' && Number(after) < Number(before))
    .map((change) => lead(change, `The limit ${change.subject} is lower: it ${moved(change)}.`));

/** Classes that retain everything or belong to V8: their growth is not informative. */
const ofTheEngine = /^class (?:global\b|Function$|\()/;

const grownMost: Rule = ({ changes }) =>
  changes
    .filter(({ section, change, unit }) => section === 'memory' && change === 'grew' && unit === 'bytes')
    .filter(({ subject }) => !ofTheEngine.test(subject))
    .sort((a, b) => growthOf(b) - growthOf(a))
    .slice(0, 1)
    .map((change) => lead(change, `${change.subject} grew most: it ${moved(change)}.`));

const parted: Rule = ({ fork }) =>
  fork
    ? [
        {
          fact: `The conversations part at message ${fork.index + 1}${fork.after ? `, from ${fork.after.role}` : ', where this one ends'}.`,
          section: 'agent',
          subject: 'conversation',
        },
      ]
    : [];

const rules: readonly Rule[] = [onStack, namedInError, otherNode, lowered, grownMost, parted];

export function findLeads(input: LeadInput): DiffLead[] {
  const leads = new Map<string, DiffLead>();
  for (const found of rules.flatMap((rule) => rule(input))) {
    const key = `${found.section}\n${found.subject}`;
    if (!leads.has(key)) leads.set(key, found);
  }
  return [...leads.values()];
}

function lead({ section, subject }: DiffChange, fact: string): DiffLead {
  return { fact, section, subject };
}

function moved({ change, before, after, unit, section }: DiffChange): string {
  const say = (value: DiffChange['before']): string => {
    const [first] = [value].flat();
    return typeof first === 'number' && unit === 'bytes' ? formatBytes(first) : String(first);
  };
  if (change === 'added') return section === 'packages' ? `is new (${say(after)})` : 'is new';
  if (change === 'removed') return 'is gone';
  return `was ${say(before)} and is ${say(after)}`;
}

function mentions(text: string, name: string): boolean {
  const at = text.indexOf(name);
  if (at === -1) return false;
  const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
  return !/[\w-]/.test(around);
}

const majorOf = (version: DiffChange['before']): string => String([version].flat()[0]).split('.')[0] ?? '';

function growthOf({ before, after }: DiffChange): number {
  return Number(after) - Math.max(...[before ?? 0].flat().map(Number));
}
